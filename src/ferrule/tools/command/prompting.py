"""Whether a command seems to wait for somebody to type: by the last line it printed, for nobody can look into it."""

import re

SILENCE = 3.0
"""Seconds without output after which a question counts as waiting."""

_OPEN = re.compile(
    r"""(?xi)
    \b (?:password|passphrase|passcode|pin|otp|username|user\ name|login|e-?mail|token|verification\ code|one-time\ code)
       \b .{0,80} [:?] $
    | [\[(] \s* y(?:es)? \s* [/|] \s* n(?:o)? \b [^\])]{0,40} [\])] \s* [:?>]? $
    | \b (?:are\ you\ sure|do\ you\ want|would\ you\ like|continue|proceed|overwrite|replace|remove|delete|ok\ to) \b
      [^?]{0,200} \? (?: \s* [\[(] [^\])]{0,60} [\])] )? \s* [:>]? $
    | \b (?:enter|type|choose|select|input|which|what) \b [^:?]{0,120} [:?>] $
    | ^ (?: >>> | \.\.\.\  | In\ \[\d+\]: | irb\S*> | mysql> | sqlite> | \w+=[\#>] | \((?:gdb|lldb|pdb)\) | \(Pdb\) | > ) $
    | ^ (?: : | \(END\) | --More--.* | lines\ \d+-\d+.* ) $
    """
)
_ANY = re.compile(
    r"(?i)\b(?:press|hit)\b.{0,20}\b(?:any key|a key|enter|return|<enter>|space)\b|^\? .{1,200}$|\[(?:y/n|yes/no)\]\s*[:?]?$"
)
_LONGEST = 400


def question(line: str) -> str:
    """The question that a last line asks, or nothing. `line` keeps its end if it has one: a prompt mostly has none."""
    shown = line.strip()
    if not shown or len(shown) > _LONGEST:
        return ""
    asks = _ANY.search(shown) or (not line.endswith("\n") and _OPEN.search(shown))
    return shown if asks else ""
