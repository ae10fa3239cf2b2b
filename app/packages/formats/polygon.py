"""Polygon's packages: problem.xml, tests/, files/ and statements/ of the standard or the full package.

The standard checkers of testlib become those here that compare as they do; any other checker is a program with the
protocol `testlib`. A group with the policy `complete-group` gives all or nothing, with `each-test` the points of its
tests are added.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from app.core.faults import NONE
from app.core.parsing import LARGEST_DOCUMENT
from app.packages import files, model
from app.packages.formats import draft as drafts
from checkers.doors import N_, Phrase

FILE = "problem.xml"
EXACT_TOKENS = drafts.Standard("tokens", ("case_sensitive",))
# testlib's checkers that have a counterpart here, for answers of the kind they are made for; others are programs.
STANDARD: Mapping[str, drafts.Standard] = {
    **dict.fromkeys(("wcmp", "ncmp", "hcmp", "icmp", "casewcmp", "casencmp", "caseicmp"), EXACT_TOKENS),
    **dict.fromkeys(("yesno", "nyesno"), drafts.Standard("tokens")),
    "fcmp": drafts.Standard("exact"),
    "lcmp": drafts.Standard("lines"),
    "rcmp4": drafts.Standard("floats", ("float_tolerance", "1e-4")),
    "rcmp6": drafts.Standard("floats", ("float_tolerance", "1e-6")),
    "rcmp9": drafts.Standard("floats", ("float_tolerance", "1e-9")),
    "dcmp": drafts.Standard("floats", ("float_tolerance", "1e-6")),
    "rcmp": drafts.Standard("floats", ("float_absolute_tolerance", "1.5e-6")),
    "acmp": drafts.Standard("floats", ("float_absolute_tolerance", "1.5e-6")),
    "rncmp": drafts.Standard("floats", ("float_absolute_tolerance", "1.5e-5")),
}
PATTERN = re.compile(r"%0?([1-9]?)d")
NUMBER = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?")
COPIED = (".png", ".jpg", ".jpeg", ".svg", ".gif")
MOST_TESTS = 100_000
# Folders of example submissions by the tags of solutions.
FOLDERS = {
    "main": "accepted", "accepted": "accepted", "wrong-answer": "wrong_answer", "rejected": "rejected",
}  # fmt: skip
SOURCE_KINDS = (".h", ".hpp")
# Codes of languages by their English names.
LANGUAGES = {
    "english": "en", "russian": "ru", "spanish": "es", "slovak": "sk", "japanese": "ja", "ukrainian": "uk",
    "polish": "pl", "czech": "cs", "german": "de", "french": "fr", "italian": "it", "portuguese": "pt", "chinese": "zh",
    "korean": "ko", "hungarian": "hu", "romanian": "ro", "turkish": "tr", "bulgarian": "bg", "croatian": "hr",
    "serbian": "sr", "lithuanian": "lt", "latvian": "lv", "estonian": "et", "armenian": "hy", "georgian": "ka",
    "azerbaijani": "az", "kazakh": "kk", "belarusian": "be", "vietnamese": "vi", "indonesian": "id", "persian": "fa",
}  # fmt: skip


def read(source: drafts.Source) -> drafts.Draft:
    """Read a Polygon package into a draft; faults and notes go to `source`."""
    draft = drafts.Draft()
    root = parse(source)
    if root is None:
        return draft
    draft.slug = root.get("short-name", "")
    titles = {_language(each): each.get("value", "") for each in root.iterfind("names/name")}
    if root.find("assets/interactor") is not None:
        source.faults.add(FILE, N_("expected answers that are files: an interactive problem has none"), "interactor")
    draft.checker = _checker(source, root)
    _read_tests(source, draft, root)
    _read_statements(source, draft, root, titles)
    if tags := [each.get("value", "") for each in root.iterfind("tags/tag") if each.get("value")]:
        draft.metadata["keywords"] = list(dict.fromkeys(tags))
    _read_solutions(source, draft, root)
    drafts.note_unused(source)
    return draft


def _read_solutions(source: drafts.Source, draft: drafts.Draft, root: Element) -> None:
    """Put the solutions whose tag says what becomes of them among the example submissions."""
    for each in root.iterfind("assets/solutions/solution"):
        path = next((element.get("path", "") for element in each.iterfind("source")), "")
        folder = FOLDERS.get(each.get("tag", ""))
        if folder is not None and path in source.files:
            draft.files[f"submissions/{folder}/{path.rpartition('/')[2]}"] = source.keep(path)


def parse(source: drafts.Source) -> Element | None:
    """Parse problem.xml without entities and document types; notes a fault and gives None if it is none."""
    if FILE not in source.files:
        source.faults.add(FILE, Phrase(N_("missing file")))
        return None
    data = source.take(FILE)
    if len(data) > LARGEST_DOCUMENT * 16:
        source.faults.expect(FILE, "", N_("at most %(most)s bytes of XML"), str(len(data)), most=LARGEST_DOCUMENT * 16)
        return None
    try:
        root: Element = fromstring(data, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
        source.faults.add(FILE, N_("not valid XML: %(error)s"), error=error)
    else:
        if root.tag == "problem":
            return root
        source.faults.expect(FILE, "", "<problem>", Phrase("<%(tag)s>", tag=root.tag[:60]))
    return None


def language_of(name: str) -> str:
    """The code of a language by its English name in lower case; empty where none has it."""
    return LANGUAGES.get(name, "")


def _language(element: Element) -> str:
    return language_of(element.get("language", ""))


def _checker(source: drafts.Source, root: Element) -> drafts.Standard | drafts.Program:
    """The standard checker that compares as the one named, or the package's own."""
    element = root.find("assets/checker")
    if element is None:
        source.note(FILE, N_("no checker is named: tokens are compared"), "checker")
        return drafts.Standard("tokens", ("case_sensitive",))
    name = element.get("name", "").removeprefix("std::").removesuffix(".cpp")
    path = next((each.get("path", "") for each in element.iterfind("source")), "")
    if element.get("name", "").startswith("std::") and name in STANDARD:
        source.used.update({path, "check.cpp"} & source.files.keys())
        chosen = STANDARD[name]
        words = " ".join((chosen.name, *chosen.args))
        source.note(FILE, N_("std::%(name)s is the checker %(words)s here"), "checker", name=name, words=words)
        return chosen
    own = path if path in source.files else "check.cpp"
    if own not in source.files:
        source.faults.add(own if path == "" else path, N_("missing file: the checker's source"))
        return drafts.Standard("tokens")
    files = {own.rpartition("/")[2]: source.take(own)}
    folder = own.rpartition("/")[0]
    headers = [name for name in source.files if name.rpartition("/")[0] == folder and name.endswith(SOURCE_KINDS)]
    return drafts.Program(
        "testlib", "fraction", files | {name.rpartition("/")[2]: source.take(name) for name in headers}
    )


def _read_tests(source: drafts.Source, draft: drafts.Draft, root: Element) -> None:
    """Put the tests of the main test set into groups and samples."""
    sets = root.findall("judging/testset")
    testset = next((each for each in sets if each.get("name") == "tests"), None)
    if testset is None:
        source.faults.expect(FILE, "judging", N_("a test set called tests"), str(len(sets)))
        return
    tests = list(testset.iterfind("tests/test"))[:MOST_TESTS]
    worth = [_points(source, f"test {number}", each) for number, each in enumerate(tests, start=1)]
    cases = _cases(source, testset, len(tests))
    scored = any(worth)  # points that are all 0 are switched on and never given
    members: dict[str, list[drafts.CaseDraft]] = defaultdict(list)
    for number, (test, own) in enumerate(zip(tests, worth, strict=True), start=1):
        if number not in cases:
            continue
        points = (own or Fraction(0)) if scored else Fraction(1)
        if test.get("sample") == "true" and not (points and scored):
            draft.samples.append(cases[number])
        else:
            members[test.get("group", "")].append(replace(cases[number], points=points))
    if not members:  # every test is shown
        members[""] = [replace(case, points=Fraction(1)) for case in draft.samples]
        draft.samples = []
    draft.total = None if scored else 100
    groups = {each.get("name", ""): each for each in testset.iterfind("groups/group")}
    names = _folders(list(members))
    draft.groups = [_group(source, groups.get(name), name, members[name], names, scored) for name in members]


def _points(source: drafts.Source, where: str, element: Element) -> Fraction | None:
    text = element.get("points")
    if text is None:
        return None
    if not NUMBER.fullmatch(text):
        source.faults.expect(FILE, where, N_("points of 0 or more"), repr(text[:60]))
        return None
    return Fraction(text)


def _cases(source: drafts.Source, testset: Element, count: int) -> dict[int, drafts.CaseDraft]:
    """The files of the tests, by number; the pattern of problem.xml names them."""
    patterns = (
        testset.findtext("input-path-pattern", "tests/%02d"),
        testset.findtext("answer-path-pattern", "tests/%02d.a"),
    )
    cases: dict[int, drafts.CaseDraft] = {}
    width = max(2, len(str(count)))
    for number in range(1, count + 1):
        given, answer = (_numbered(pattern, number) for pattern in patterns)
        expected = source.keep(answer) if answer in source.files else None
        if given in source.files:
            cases[number] = drafts.CaseDraft(f"{number:0{width}}", source.keep(given), expected)
        else:
            source.faults.add(given[:300], N_("missing file: a full package has the generated tests too"))
    return cases


def _numbered(pattern: str, number: int) -> str:
    """Put a number into `tests/%02d`."""
    return PATTERN.sub(lambda match: f"{number:0{int(match[1] or 0) or 1}}", pattern)


def _folders(names: Sequence[str]) -> dict[str, str]:
    """Names of folders by those of groups: numbers of one width, so that they sort as they count."""
    width = max((len(name) for name in names if name.isdigit()), default=0)
    return {name: name.zfill(width) if name.isdigit() else name for name in names}


def _group(
    source: drafts.Source,
    element: Element | None,
    name: str,
    cases: Sequence[drafts.CaseDraft],
    names: Mapping[str, str],
    scored: bool,
) -> drafts.GroupDraft:
    """The group of some tests, as an element of problem.xml has it: without one all or nothing."""
    total = sum((case.points for case in cases), Fraction(0))
    if not name:
        aggregation: model.Aggregation = "sum" if scored else "pass-fail"
        return drafts.GroupDraft("", aggregation, total, tuple(cases))
    if not files.NAME.fullmatch(name):
        expected = N_("a group named by letters, digits, `.`, `-` and `_`")
        source.faults.expect(FILE, f"group {name[:60]}", expected, repr(name[:60]))
    if element is None:
        return drafts.GroupDraft(names[name], "pass-fail", total, tuple(cases))
    policy = element.get("points-policy", "complete-group")
    if policy not in ("complete-group", "each-test"):
        source.faults.expect(FILE, f"group {name}", N_("complete-group or each-test"), policy[:60])
    points = _points(source, f"group {name}", element)
    after = [each.get("group", "") for each in element.iterfind("dependencies/dependency")]
    return drafts.GroupDraft(
        names[name],
        "sum" if policy == "each-test" else "pass-fail",
        points if scored and points is not None and policy != "each-test" else total,
        tuple(cases),
        require=tuple(names[each] for each in after if each in names),
    )


def _read_statements(source: drafts.Source, draft: drafts.Draft, root: Element, titles: Mapping[str, str]) -> None:
    """Put the statements into the draft: a PDF where there is one, otherwise the LaTeX."""
    chosen: dict[str, tuple[str, str]] = {}
    for each in root.iterfind("statements/statement"):
        language, path = _language(each), each.get("path", "")
        kind = path.rpartition(".")[2]
        if path not in source.files or kind not in ("tex", "pdf"):
            continue
        if not language:
            source.note(FILE, N_("%(path)s: a language not known here, left out"), "statements", path=path)
        elif kind == "pdf" or language not in chosen:
            chosen[language] = (path, kind)
    for language, (path, kind) in sorted(chosen.items()):
        draft.files[f"statement/problem.{language}.{kind}"] = source.keep(path)
        draft.names[language] = titles.get(language, "") or next(iter(titles.values()), "")
        for name in source.below(path.rpartition("/")[0]):
            if name.endswith(COPIED):
                draft.files[f"statement/{name.rpartition('/')[2]}"] = source.keep(name)
    if not chosen:
        source.faults.expect(FILE, "statements", N_("a statement in LaTeX or PDF"), NONE)
