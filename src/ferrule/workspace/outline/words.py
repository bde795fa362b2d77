"""What a line is by how it begins, for languages that are not parsed."""

import re

_NO_COMMENT = r"(?:include|import|define|if|ifdef|ifndef|elif|else|endif|pragma|undef)\b|!?\[|[\w-][^#]*[{,]\s*$"
"""What follows a `#`: a word of the preprocessor, an attribute, the name of a style."""
COMMENT = re.compile(rf"\s*(?:#(?!{_NO_COMMENT})|//|--(?![->])|/\*|\*(?:[\s/*]|$)|;;|<!--)")
DIRECTIVE = re.compile(r"\s*#\s*(?:if|ifdef|ifndef|elif|else|endif|define|undef|pragma|region|endregion)\b")
"""Of a preprocessor: they stand at the margin, whatever they stand in."""
DECORATION = re.compile(r"\s*(?:@[\w\"(]|#!?\[|\[[A-Z]\w*.*\]\s*$|template\s*<)")
IMPORT = re.compile(
    r"(?:import\b|from\s+\S+\s+import\b|#\s*include\b|#\s*import\b|using\s|use\s|package\s|namespace\s[\w\\.]+;|require(?:_relative|_once)?\b"
    r"|include(?:_once)?\s|extern\s+crate\b|mod\s+\w+;|source\s|\.\s+\S+\.sh|library\(|@import\b|export\s.*\bfrom\b"
    r"|(?:const|let|var)\s.*=\s*require\()"
)
_CLOSING = re.compile(
    r"\s*(?:[}\])]|</|(?:end|endif|endfunction|endwhile|endfor|endclass|endmodule|until|fi|done|esac)\b(?!\s*[=.(\[:,])"
    r"|(?:else|elif|elsif|elseif|except|finally|catch|rescue|ensure|then)\b(?!\s*[=.,])|do\s*$|begin\s*$)",
    re.IGNORECASE,
)
_BRACE = re.compile(r"\s*\{\s*(?://.*|/\*.*)?$")
_LABEL = re.compile(r"\s*(?:case\b.*:|default\s*(?::|=>|->)|(?:public|protected|private|signals|slots)(?:\s+slots)?\s*:|when\b)")
_LABELLED = re.compile(r".*\b(?:switch|select|class|struct|union|case|match)\b")
_ITEM = re.compile(r"\s*-(?:\s|$)")


def comment(line: str) -> bool:
    return COMMENT.match(line) is not None


def passing(line: str) -> bool:
    """Whether its indentation says nothing of what it stands in."""
    return comment(line) or DIRECTIVE.match(line) is not None


def continues(line: str, head: str, before: str) -> bool:
    """Whether a line, as deep as the head of a block, belongs to that block: it closes it, or goes on with it.

    `before` is the line of the block that stands before it.
    """
    if _CLOSING.match(line):
        return True
    if _BRACE.match(line):
        return not before.rstrip().endswith((";", ",", "{", "}"))
    if _LABEL.match(line):
        return _LABELLED.match(head) is not None and not _LABEL.match(head)
    return _ITEM.match(line) is not None and head.rstrip().endswith(":") and not _ITEM.match(head)


def leads_back(line: str) -> bool:
    """Whether a line may continue a block whose head stands above it."""
    return any(pattern.match(line) for pattern in (_CLOSING, _BRACE, _LABEL, _ITEM))
