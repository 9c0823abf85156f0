/*
 * The terminal while --live is on: the alternate screen, no cursor, keys one by one. Everything is undone at the end,
 * when a signal stops us for a while (Ctrl-Z), and before a signal ends us; what handlers do here is a write and a
 * tcsetattr, which POSIX allows them.
 */
#include "cli/watch/live.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli/watch/picture.h"

static struct {
    volatile sig_atomic_t on;
    bool keys; /* standard input is the terminal, and its mode was changed */
    bool utf8, color;
    struct termios before, during;
} live;

static void say(const char *text)
{
    ssize_t n = write(STDOUT_FILENO, text, strlen(text));
    (void)n; /* a terminal that is gone needs no picture */
}

static void enter(void)
{
    if (live.keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &live.during);
    say("\033[?1049h\033[?25l\033[2J");
    live.on = 1;
}

void pt_live_end(void)
{
    if (!live.on)
        return;
    live.on = 0;
    say("\033[0m\033[?25h\033[?1049l");
    if (live.keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &live.before);
}

/* Ctrl-Z: the shell gets its terminal as it was, and we ours when we go on. */
static void pause_here(int signal_number)
{
    int saved = errno;
    (void)signal_number;
    pt_live_end();
    raise(SIGSTOP);
    enter();
    errno = saved;
}

static bool is_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value && value[0])
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

bool pt_live_begin(void)
{
    const char *term = getenv("TERM"), *plain = getenv("NO_COLOR");
    if (!isatty(STDOUT_FILENO) || !term || strcmp(term, "dumb") == 0)
        return false;
    live.utf8 = is_utf8();
    live.color = !(plain && plain[0]);
    live.keys = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &live.before) == 0;
    if (live.keys) {
        live.during = live.before;
        live.during.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        live.during.c_cc[VMIN] = 0;
        live.during.c_cc[VTIME] = 0;
    }
    struct sigaction action = {.sa_handler = pause_here, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTSTP, &action, NULL);
    enter();
    return true;
}

int pt_live_keys(void)
{
    return live.on && live.keys ? STDIN_FILENO : -1;
}

bool pt_live_quits(void)
{
    char keys[16];
    ssize_t n = live.on && live.keys ? read(STDIN_FILENO, keys, sizeof keys) : 0;
    for (ssize_t i = 0; i < n; i++)
        if (keys[i] == 'q' || keys[i] == 'Q')
            return true;
    return false;
}

void pt_live_draw(const struct pt_fleet *fleet)
{
    struct winsize size = {0};
    if (!live.on)
        return;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_col || !size.ws_row)
        size = (struct winsize){.ws_col = 80, .ws_row = 24};
    struct pt_buf picture, out;
    pt_buf_init(&picture);
    pt_buf_init(&out);
    struct pt_picture drawing = pt_picture_new(size.ws_col, size.ws_row, live.utf8, live.color, &picture);
    if (fleet->watching->several)
        pt_picture_fleet(&drawing, fleet);
    else if (fleet->count)
        pt_picture_scene(&drawing, fleet->members[0]->scene);
    pt_buf_puts(&out, "\033[H");
    for (const char *line = picture.text ? picture.text : ""; *line;) {
        size_t len = strcspn(line, "\n");
        pt_buf_add(&out, line, len);
        pt_buf_puts(&out, "\033[K");
        line += len + (line[len] == '\n');
        if (*line)
            pt_buf_puts(&out, "\r\n");
    }
    pt_buf_puts(&out, "\033[J");
    for (size_t done = 0; done < out.len;) {
        ssize_t n = write(STDOUT_FILENO, out.text + done, out.len - done);
        if (n <= 0 && errno != EINTR && errno != EAGAIN)
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    pt_buf_release(&picture);
    pt_buf_release(&out);
}
