"""What `ferrule --help` says: one screen."""

HELP = """\
Ferrule, a coding agent whose runs end honestly.

Examples
  ferrule -p "fix the failing test" --approve edits --verify "make test"
  git diff | ferrule -p "explain this change" --output-format json
  ferrule -c -p "now add a test for it"

Task
  -p, --print PROMPT       do this without asking anything; piped text joins it
  -c, --continue           go on with the last session of this folder
  -r, --resume ID          go on with this session; its first characters suffice
  --if-busy WHAT           if it is open elsewhere: wait, read (watch), or take
  -C DIR                   work in DIR instead of the current folder
  --add-dir DIR            let the task use DIR too (repeatable)
  --worktree [NAME]        work in a git worktree of its own   --no-session
  --verify CMD             must exit 0 before the task may finish (repeatable)
Model
  --model NAME[,NAME]      openai/…, openai-responses/…, anthropic/…, google/…,
                           scripted/FILE, or ENDPOINT/… of the configuration
  --effort none|low|medium|high   --append-system-prompt TEXT
Rights and limits
  --approve WHAT           ask (only reading), edits (writing too), or all
  --allow RULE             "execute:pytest *", "write:docs/**", … (repeatable)
  --deny RULE              the same, and it wins (repeatable)
  --sandbox MODE           confine commands: workspace or strict; or off
  --max-turns N   --max-tokens N   --max-cost USD   --max-time 90s|10m|2h
Output
  --output-format FORMAT   text, json, stream-json, or sarif (review)
  --receipt FILE           write the evidence of the run, which can be verified
Review
  review [--base REF | --staged | --commit SHA] [--fail-on SEVERITY] [PATH…]
                           of the working tree; by checks if there is no model
Commands
  sessions list [--all] | show ID | search TEXT [--all] | rm ID | import FILE
  sessions export ID [--format markdown|jsonl] [-o, --output FILE]
  sessions compact ID [--focus TEXT]   summarise what was said longest ago
  undo [ID] [--to SEQ | --last N | --all] [--files] [--conversation]
       [--list | --dry-run | --force]   go back to before a prompt, or redo
  receipt verify FILE [--journal EXPORT]   replay ID [--until SEQ] [--speed N]
  trace ID   doctor [--filters MODEL]   demo [review]   -h, --help   --version
  mcp list | remove NAME | add NAME URL | add NAME -- COMMAND [ARGUMENT…]
      [--project] [--transport stdio|http|sse] [--env N=V] [--header N:V]
  config show | trust [DIR] | untrust [DIR]   init [--force]
Settings
  ~/.config/ferrule/config.toml < .ferrule/config.toml (trusted folders only)
  < FERRULE_KEY < flags; ferrule config show tells where each value comes from
Exit codes
  0 finished   1 failed    2 wrong usage   3 needs an answer   4 limit reached
  5 stuck      6 refused   7 incomplete    8 unverified        9 aborted
  10 findings reach --fail-on   75 try again later   130 interrupted
"""
