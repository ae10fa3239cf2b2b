"""The test data of a package: which cases and groups `data/` holds, and what each case is worth."""

from collections.abc import Collection, Mapping
from fractions import Fraction

from app.core.faults import NONE, Faults
from app.core.parsing import read_model
from app.domain.documents import CaseListDocument
from app.packages import model
from app.packages.contents import GROUP_FILE, ROOMS, VALIDATION, Bundle, check_names, check_parts, collect_bundles
from app.packages.settings import CaseSettings, GroupSettings, JuradoSettings
from checkers.doors import N_

DEFAULT_MAX = 100
# Keys of groups that hold for their cases.
HANDED_DOWN = ("input_validator_args", "output_validator_args")
# Stands for a test_group.yaml that has left a fault already, so that its group is not missed as well.
UNREADABLE = GroupSettings(max_score=0)


def read_test_data(
    files: Mapping[str, bytes], settings: JuradoSettings, substitute: Mapping[str, bytes], faults: Faults
) -> tuple[tuple[model.Group, ...], tuple[model.Case, ...], tuple[model.Case, ...]]:
    """Read everything below `data/`: groups with cases, the cases in order, and those that only try validators.

    `substitute`: the test_group.yaml files with the problem's constants put in.
    """
    bundles = collect_bundles(files, faults)
    configs = {_folder(name): read_model(GroupSettings, data, name, faults) for name, data in substitute.items()}
    known = {folder: config or UNREADABLE for folder, config in configs.items()}
    for bundle in bundles:
        check_parts(bundle, faults, has_solver=settings.reference is not None)
    check_names(bundles, faults)
    folders = _group_folders(bundles, known, faults)
    groups = _groups(folders, known, settings, faults)
    judged = [bundle for bundle in bundles if bundle.room in ("sample", "secret")]
    members: dict[str, list[Bundle]] = {group.name: [] for group in groups}
    known_folders = frozenset(folders)
    for bundle in judged:
        members.get(_group_of(bundle, known_folders), []).append(bundle)
    tried = [bundle for bundle in bundles if bundle.room in VALIDATION and ".in" in bundle.parts]
    return (
        tuple(group for group in groups if members[group.name]),
        _cases(judged, groups, members, known, _case_list(settings, groups, members, faults), faults),
        tuple(_case(bundle, bundle.room, _configuration(bundle, known, faults)) for bundle in tried),
    )


def _folder(name: str) -> str:
    return name.removeprefix("data/").removesuffix(f"/{GROUP_FILE}")


def _group_folders(bundles: list[Bundle], known: Mapping[str, GroupSettings], faults: Faults) -> tuple[str, ...]:
    """The folders that are groups, checked: all of secret's folders or none, not nested, none empty."""
    for folder in sorted(known):
        depth = folder.count("/")
        if depth > 1 or (folder.startswith("sample/")) or folder.partition("/")[0] not in ROOMS:
            faults.add(f"data/{folder}/{GROUP_FILE}", N_("expected groups directly in data/secret only"))
    groups = sorted(f for f in known if f.startswith("secret/") and f.count("/") == 1)
    secret = [bundle for bundle in bundles if bundle.room == "secret"]
    for bundle in secret:
        top = "/".join(bundle.path.split("/")[:2]) if bundle.path.count("/") > 1 else ""
        if groups and not top:
            faults.expect(
                f"data/{bundle.path}.in", "", N_("cases inside the groups"), N_("one directly in data/secret")
            )
        elif groups and top not in groups:
            faults.expect(f"data/{top}", "", N_("a %(name)s, as its sister folders have"), NONE, name=GROUP_FILE)
    for folder in groups:
        if not any(bundle.path.startswith(f"{folder}/") for bundle in secret):
            faults.expect(f"data/{folder}", "", N_("at least one test case"), NONE)
    return ("sample", *(groups or ["secret"]))


def _group_of(bundle: Bundle, folders: Collection[str]) -> str:
    """A group is the room itself or a folder directly in it."""
    parts = bundle.path.split("/")[:-1]
    return next((folder for end in (1, 2) if (folder := "/".join(parts[:end])) in folders), "")


def _groups(
    folders: tuple[str, ...], known: Mapping[str, GroupSettings], settings: JuradoSettings, faults: Faults
) -> tuple[model.Group, ...]:
    _check_secret(folders, known, faults)
    for name in settings.final:
        if name != "secret" and name not in folders:
            faults.expect("jurado.yaml", "final", N_("one of %(folders)s"), name, folders=", ".join(folders[1:]))
    groups = tuple(_group(name, known, settings, faults) for name in folders)
    by_name = {group.name: group for group in groups}
    for group in groups:
        _check_require_pass(group, by_name, faults)
    return groups


def _group(name: str, known: Mapping[str, GroupSettings], settings: JuradoSettings, faults: Faults) -> model.Group:
    config, file = known.get(name, GroupSettings()), f"data/{name}/{GROUP_FILE}"
    if name == "sample":
        _check_sample(config, file, faults)
        return model.Group("sample", "sample", None, "pass-fail")
    aggregation = config.score_aggregation or ("sum" if name == "secret" else "pass-fail")
    most = DEFAULT_MAX if config.max_score is None and name == "secret" else config.max_score
    if most is None:
        faults.expect(file, "max_score", N_("a number, as Jurado gives points out of a maximum"), NONE)
    outer = known.get("secret", GroupSettings()).require_pass if name != "secret" else ()
    required = tuple(dict.fromkeys((*outer, *config.require_pass)))
    final = name in settings.final or "secret" in settings.final
    kind: model.GroupKind = "final" if final else "provisional"
    return model.Group(name, kind, most or 0, aggregation, required)


def _check_sample(config: GroupSettings, file: str, faults: Faults) -> None:
    for key in ("max_score", "score_aggregation", "require_pass"):
        if getattr(config, key) not in (None, ()):
            faults.add(file, N_("key not permitted in sample"), key)


def _check_secret(folders: tuple[str, ...], known: Mapping[str, GroupSettings], faults: Faults) -> None:
    """Note groups of secret whose maxima do not add up to its own."""
    if "secret" in folders:
        return
    file = f"data/secret/{GROUP_FILE}"
    secret = known.get("secret", GroupSettings())
    aggregation = secret.score_aggregation or "sum"
    if aggregation != "sum":
        faults.expect(file, "score_aggregation", N_("sum, as points of groups are added"), aggregation)
    most = [known[folder].max_score for folder in folders[1:] if folder in known]
    total = sum(filter(None, most))
    readable = all(known.get(folder) is not UNREADABLE for folder in ("secret", *folders))
    if readable and None not in most and total != _max_score(known):
        faults.expect(
            file, "max_score", N_("the sum of its groups' max_score, %(total)s"), str(_max_score(known)), total=total
        )


def _max_score(known: Mapping[str, GroupSettings]) -> int:
    most = known["secret"].max_score if "secret" in known else None
    return DEFAULT_MAX if most is None else most


def _check_require_pass(group: model.Group, groups: Mapping[str, model.Group], faults: Faults) -> None:
    file = f"data/{group.name}/{GROUP_FILE}"
    for name in group.require_pass:
        if name not in groups:
            faults.expect(file, "require_pass", N_("a group (%(groups)s)"), name, groups=", ".join(groups))
        elif name >= group.name:
            faults.expect(file, "require_pass", N_("groups that come before %(name)s"), name, name=group.name)
        elif groups[name].aggregation != "pass-fail":
            faults.expect(file, "require_pass", N_("groups with pass-fail aggregation"), name)


def _cases(
    bundles: list[Bundle],
    groups: tuple[model.Group, ...],
    members: Mapping[str, list[Bundle]],
    known: Mapping[str, GroupSettings],
    listed: CaseListDocument,
    faults: Faults,
) -> tuple[model.Case, ...]:
    """List every judged case whose files exist, in order."""
    group_of = {bundle.path: group for group in groups for bundle in members[group.name]}
    shares = {
        name: share
        for group in groups
        for name, share in model.shares(group, [b.name for b in members[group.name]], listed).items()
    }
    cases: list[model.Case] = []
    for bundle in sorted(bundles, key=lambda each: _place(each, group_of, listed)):
        if ".in" in bundle.parts and bundle.path in group_of:
            group, own = group_of[bundle.path], _configuration(bundle, known, faults)
            cases.append(_case(bundle, group.name, own, len(cases) + 1, shares[bundle.name]))
    return tuple(cases)


def _place(bundle: Bundle, group_of: Mapping[str, model.Group], listed: CaseListDocument) -> tuple[str, int, str]:
    """The place of a case among all: those of a group are together where the problem lists some of them."""
    group = group_of.get(bundle.path)
    if group is None or not listed["order"]:
        return bundle.path, 0, ""
    return group.name, model.place(listed, bundle.name), bundle.path


def _case_list(
    settings: JuradoSettings, groups: tuple[model.Group, ...], members: Mapping[str, list[Bundle]], faults: Faults
) -> CaseListDocument:
    """The order and points of cases as jurado.yaml has them, checked."""
    listed = model.NOTHING if settings.testcases is None else settings.testcases.document()
    names = {group: [bundle.name for bundle in bundles] for group, bundles in members.items()}
    model.check(listed, groups, names, "jurado.yaml", faults)
    return listed


def _case(
    bundle: Bundle, group: str, own: CaseSettings, ordinal: int = 0, points: Fraction = Fraction(0)
) -> model.Case:
    return model.Case(
        name=bundle.name,
        path=bundle.path,
        group=group,
        ordinal=ordinal,
        max_points=points,
        input=bundle.parts[".in"],
        answer=bundle.parts.get(".ans"),
        output=bundle.parts.get(".out"),
        checker_args=own.output_validator_args or (),
        validator_args=own.input_validator_args or {},
    )


def _configuration(bundle: Bundle, known: Mapping[str, GroupSettings], faults: Faults) -> CaseSettings:
    """Read NAME.yaml; the nearest folder above with a test_group.yaml hands down what it does not say."""
    file = bundle.parts.get(".yaml")
    own = (read_model(CaseSettings, file.read(), file.path, faults) if file else None) or CaseSettings()
    parts = bundle.folder.split("/")
    folders = ("/".join(parts[:end]) for end in range(len(parts), 0, -1))
    nearest = next((known[folder] for folder in folders if folder in known), GroupSettings())
    return own.model_copy(update={key: getattr(nearest, key) for key in HANDED_DOWN if getattr(own, key) is None})
