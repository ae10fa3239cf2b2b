"""What to do about a part of an installation, in the reader's language."""

from __future__ import annotations

from app.core.pages.known_sentences import KnownSentences
from app.core.pages.languages import N_

WORDS = KnownSentences(
    (
        N_("database"),
        N_("graders"),
        N_("clock"),
        N_("server %(name)s"),
        N_("worker %(name)s"),
        N_("versions"),
        N_("workers"),
        N_("replica %(name)s"),
        N_("broker"),
        N_("judging"),
        N_("judge errors"),
        N_("disk"),
        N_("files"),
        N_("backup"),
        N_("it takes no writes: look whether it runs and its disk has room, and at the log"),
        N_("this server has none that works: restart it; submissions are kept and judged then"),
        N_("the system's clock was set back by %(seconds)s s: let NTP set it right"),
        N_("this system does not protect them by %(names)s"),
        N_("programs of packages"),
        N_("refused because the service runs as root: run it as another user, or set JURADO_PROGRAMS_AS_ROOT=allow"),
        N_("no sign of life since %(time)sZ: start it again; its log says why it ended. Its work went on"),
        N_("processes are of several versions: go on with the upgrade"),
        N_("none is alive, so nothing is judged: start `jurado worker`"),
        N_("graders died (%(names)s): a checker that crashes or takes too much memory; see the log"),
        N_("its state is hidden from the service's role: GRANT pg_monitor TO that role"),
        N_("its state is %(state)s: look at its log"),
        N_("%(seconds)s s behind: look at its disk and network before you rely on it"),
        N_("%(error)s: start RabbitMQ; submissions are taken meanwhile, and judged when it is back"),
        N_("%(count)s messages, and no worker that takes them: start `jurado worker`"),
        N_("the oldest has waited for %(seconds)s s: more workers, or look at its problem's checker"),
        N_("the oldest has waited for %(seconds)s s: more graders (JURADO_GRADERS), or look at its problem's checker"),
        N_(
            "the newest is submission %(submission)s of %(contest)s (%(error)s):"
            " mend the checker or its limits, then `jurado admin rejudge %(again)s --reason TEXT`"
        ),
        N_("%(size)s GB are free: make room; without any, submissions get 507"),
        N_("%(count)s are missing or damaged: `jurado status --fsck --from BACKUP`"),
        N_("none was ever made: `jurado backup DIR`, by a timer (deploy/systemd)"),
        N_("the last one is %(hours)s h old: look at the timer and its log"),
        N_("%(count)s files could not be copied: `jurado status --fsck --from BACKUP`"),
    )
)
"""The parts and sentences of `app.operations.service.advice`."""
