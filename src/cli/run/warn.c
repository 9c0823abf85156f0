/* What a run gives reason to warn of: events that were lost, and what the program did that it should not. */
#include "cli/run/warn.h"

#include <inttypes.h>
#include <string.h>

#include "cli/common/diag.h"
#include "cli/run/doubt.h"
#include "cli/run/whole.h"
#include "report/words.h"

void pt_session_complain(const struct pt_session *session, const struct pt_err *warning)
{
    if (!session->output_options.quiet && session->settings.verbosity >= 0)
        pt_diag_warning(warning);
}

bool pt_session_losses(const struct pt_session *session, struct pt_buf *buf)
{
    struct pt_loss loss = pt_source_loss(pt_channel_source(session->reader));
    if (loss.why[0])
        pt_buf_puts(buf, loss.why);
    else if (session->torn)
        pt_buf_puts(buf, session->torn);
    else if (session->left)
        pt_buf_puts(buf, "it still ran when the observation ended");
    else if (session->nonsense)
        pt_buf_puts(buf, "what the program recorded makes no sense");
    return buf->len > 0;
}

/* With --preload nobody expects accesses; of a runtime that has stopped nobody knows. */
bool pt_session_is_built(const struct pt_session *session)
{
    return !pt_channel_started(session->reader) || session->preload || pt_channel_built(session->reader) ||
           pt_channel_losses(session->reader).stopped;
}

bool pt_session_left_out(const struct pt_session *session, bool *ret_asked, struct pt_buf *buf)
{
    const struct pt_settings *s = &session->settings;
    bool built = pt_session_is_built(session);
    *ret_asked = s->sample < 2 && built;
    if (!built)
        pt_buf_puts(buf,
                    "nothing of the program was compiled by 'portent cc' or 'portent c++', so no access was observed");
    else if (!*ret_asked)
        pt_buf_printf(buf, "of places that run often about one access in %" PRId64 " was looked at (sample)",
                      s->sample);
    if (s->skip_file.len || s->only_file.len || s->skip_function.len)
        pt_buf_printf(buf, "%swhat skip-file, only-file or skip-function leave out was not looked at",
                      buf->len ? ", and " : "");
    return buf->len > 0;
}

/* What the dynamic loader ends a program with that it cannot put together; shells say by it that there is none. */
enum { NOT_LOADED = 127 };

static void warn_about_run(const struct pt_session *session, const struct pt_buf *lost)
{
    struct pt_err warning;
    bool began = pt_channel_started(session->reader);
    bool has_runtime = !began && session->info && pt_debuginfo_has_runtime(session->info);
    if (has_runtime && session->program_status == NOT_LOADED) {
        (void)pt_err_set(&warning, PT_OK, "'%s' ended with status %d before it began, so nothing was observed",
                         session->program, NOT_LOADED);
        pt_err_hint(&warning, "see what its loader said: a shared library that is not found, perhaps");
        pt_session_complain(session, &warning);
    } else if (has_runtime) {
        (void)pt_err_set(&warning, PT_OK, "'%s' was built with another version of Portent, so nothing was observed",
                         session->program);
        pt_err_hint(&warning, "build it again with this one's 'portent cc' or 'portent c++'");
        pt_session_complain(session, &warning);
    } else if (!began) {
        (void)pt_err_set(&warning, PT_OK, "%s'%s' %s instrumented, so nothing was observed",
                         session->through ? "neither " : "", session->program,
                         session->through ? "nor what it has started is" : "is not");
        pt_err_hint(&warning, session->preload ? "static and set-user-id programs load no library before them"
                                               : "build it with 'portent cc' or 'portent c++', or try --preload");
        pt_session_complain(session, &warning);
    } else if (lost->len) {
        (void)pt_err_set(&warning, PT_OK, "%s", lost->text);
        pt_session_complain(session, &warning);
    }
}

/* Mistakes of the program in its use of portent.h. */
static void warn_about_calls(const struct pt_session *session)
{
    uint64_t bad_ends = pt_channel_bad_ends(session->reader);
    if (bad_ends) {
        struct pt_err warning;
        (void)pt_err_set(&warning, PT_OK,
                         "%" PRIu64 " call%s of portent_end did not name the innermost open block, and %s ignored",
                         bad_ends, pt_words_plural(bad_ends), bad_ends == 1 ? "was" : "were");
        pt_session_complain(session, &warning);
    }
}

/* What can be done about it: of the size of a string or vector the writer is the C++ library itself. */
static const char *foreign_remedy(const char *name)
{
    static const char size[] = ".size()";
    size_t len = strlen(name), tail = sizeof size - 1;
    return len > tail && strcmp(name + len - tail, size) == 0
               ? "let the library (std::getline, >>) fill a string of its own, and assign that"
               : "build the library that writes it with 'portent cc' too";
}

/* Writers that were not instrumented: once per place. */
static void warn_about_foreign(const struct pt_session *session)
{
    uint32_t count;
    uint64_t total;
    const struct pt_channel_foreign *foreign = pt_channel_foreign(session->reader, &count, &total);
    for (uint32_t i = 0; i < count; i++) {
        struct pt_err warning;
        const char *place = pt_name(&session->names, PT_SPACE_LOC, foreign[i].loc);
        const char *name = pt_name(&session->names, PT_SPACE_VAR, foreign[i].var);
        bool end = strcmp(place, "-") == 0;
        (void)pt_err_set(&warning, PT_OK, "'%s' had a value %s%s that no instrumented code had written", name,
                         end ? "" : "at ", end ? "when it or the program ended" : place);
        if (i + 1 == count)
            pt_err_hint(&warning, "%" PRIu64 " such value%s in all; %s", total, pt_words_plural(total),
                        foreign_remedy(name));
        pt_session_complain(session, &warning);
    }
}

void pt_session_warn(const struct pt_session *session, const struct pt_buf *lost)
{
    warn_about_run(session, lost);
    warn_about_calls(session);
    warn_about_foreign(session);
}

bool pt_session_reasons(const struct pt_session *session, const struct pt_result *result, bool *ret_unseen,
                        struct pt_buf *reasons)
{
    struct pt_buf lost, left_out;
    bool asked;
    pt_buf_init(&lost);
    pt_buf_init(&left_out);
    bool sampled = (session->checks | session->wider_checks) & ~(1u << PT_FOUND_DEADLOCK) &&
                   pt_session_left_out(session, &asked, &left_out) && !asked;
    struct pt_whole_facts facts = {.started = pt_channel_started(session->reader),
                                   .lost = pt_session_losses(session, &lost) ? lost.text : NULL,
                                   .sampled = sampled ? left_out.text : NULL,
                                   .foreign = pt_doubt_foreign(session),
                                   .late = pt_doubt_late(session),
                                   .doubted = session->doubted,
                                   .unobserved = pt_channel_unobserved(session->reader),
                                   .unwritten = session->unwritten.len ? session->unwritten.text : NULL,
                                   .inputs = session->analyse.inputs,
                                   .input_count = session->analyse.input_count,
                                   .result = result,
                                   .unseen = ret_unseen};
    bool open = pt_whole_reasons(&facts, reasons);
    pt_buf_release(&left_out);
    pt_buf_release(&lost);
    return open;
}
