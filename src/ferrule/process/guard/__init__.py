"""The program of a session's supervisor process, and of the keeper that it forks for each command.

    Ferrule ── supervisor ─┬─ keeper ── command ── its descendants
                           └─ keeper ── command ── its descendants

Both are child subreapers: an orphan below a keeper becomes the keeper's child, so a keeper's descendants are exactly the
processes of its command, and `waitpid` says when none is left. The supervisor ends when its socket to Ferrule closes, a keeper
when its command and everything below has ended; each notices when the one above it dies, and ends what is below. If a keeper
is killed, what it watched falls to the supervisor, which ends it.

It runs in an interpreter of its own without site packages and imports nothing but built-in modules and itself, for its start
is paid by every session: `signal` and `socket` proper would double it.

What another service starts because a command asked it to (a container daemon, at, systemd-run) is not below us. A command that
kills its keeper and the supervisor in one stroke escapes, as does one that becomes another user whom we may not signal; the
latter is reported. Where there is no subreaper (not Linux) a command's processes are those of its process group: what leaves the
group is not found.
"""
