"""XML that is not well-formed. Entities are not expanded and nothing outside the file is read."""

from xml.parsers import expat

from ferrule.workspace.checkers.base import Changed, Checker, each_file

from .problem import PARSE, Problem, introduced

SUFFIXES = (".xml", ".svg", ".xsd", ".xsl", ".xslt", ".plist", ".csproj", ".props", ".targets", ".resx", ".xaml", ".wsdl", ".rss")


def xml_files() -> Checker:
    return Checker("xml", _wants, each_file(introduced("xml", read)))


def _wants(file: Changed) -> bool:
    return file.suffix in SUFFIXES


def read(content: bytes) -> list[Problem]:
    parser = expat.ParserCreate()
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.DefaultHandler = lambda data: None  # with it, expat hands references to internal entities over as they stand
    try:
        parser.Parse(content, True)
    except expat.ExpatError as problem:
        return [Problem(problem.lineno, PARSE, f"This is not well-formed XML: {expat.ErrorString(problem.code)}")]
    except (LookupError, ValueError):
        return []
    return []
