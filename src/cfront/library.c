/*
 * Library functions that neither synchronise nor allocate nor fill memory, and Portent's own annotations; the others
 * have rows in core/sync.def. UNKNOWN here is less than it is elsewhere: it touches what its arguments reach, runs what
 * it is handed while it is called, and nothing else.
 *
 * What keeps a function to run it later (atexit, tss_create) must not be here. Of what is not here, some leave memory
 * to the library for later; these are named at the end.
 *
 * Guarantee: a function that is not here is not taken for harmless. Cost: a binary search for each call.
 */
#include <stdlib.h>
#include <string.h>

#include "cfront/abstract.h"

enum { MAX_NAMES = 1024 };

static const struct {
    enum pt_cf_call_kind kind;
    const char *names; /* each followed by a space */
} lists[] = {
    {PT_CF_CALL_BEGIN, "portent_begin "},
    {PT_CF_CALL_END, "portent_end "},
    {PT_CF_CALL_NOTHING,
     "__ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __errno_location abs acos acosf acosh acoshf "
     "acoshl acosl asin asinf asinh asinhf asinhl asinl atan atan2 atan2f atan2l atanf atanh atanhf "
     "atanhl atanl cbrt cbrtf cbrtl ceil ceilf ceill clock cnd_destroy cnd_init copysign copysignf "
     "copysignl cos cosf cosh coshf coshl cosl drand48 epoll_create epoll_create1 erf erfc erfcf erfcl "
     "erff erfl eventfd exp exp2 exp2f exp2l expf expl expm1 expm1f expm1l fabs fabsf fabsl fdatasync "
     "fdim fdimf fdiml floor floorf floorl fma fmaf fmal fmax fmaxf fmaxl fmin fminf fminl fmod fmodf "
     "fmodl fsync ftruncate getchar getchar_unlocked getegid geteuid getgid getpagesize getpid getppid "
     "gettid getuid hypot hypotf hypotl isalnum isalpha isatty isblank iscntrl isdigit isgraph islower "
     "isprint ispunct isspace isupper isxdigit labs ldexp ldexpf ldexpl listen llabs llrint llrintf "
     "llrintl llround llroundf llroundl log log10 log10f log10l log1p log1pf log1pl log2 log2f log2l logf "
     "logl lrand48 lrint lrintf lrintl lround lroundf lroundl lseek lseek64 mq_close mq_unlink mrand48 "
     "msgget mtx_destroy mtx_init nearbyint nearbyintf nearbyintl pow powf powl "
     "pthread_cond_destroy pthread_cond_init pthread_equal pthread_getconcurrency "
     "pthread_key_delete pthread_mutex_consistent pthread_mutex_consistent_np pthread_mutex_destroy "
     "pthread_mutex_getprioceiling pthread_mutex_init pthread_rwlock_destroy pthread_rwlock_init "
     "pthread_self pthread_setaffinity_np pthread_setattr_default_np pthread_setconcurrency "
     "pthread_setschedparam pthread_setschedprio pthread_spin_destroy pthread_spin_init "
     "pthread_yield putchar putchar_unlocked raise rand random remainder remainderf "
     "remainderl rint rintf rintl round roundf roundl scalbn scalbnf scalbnl sched_get_priority_max "
     "sched_get_priority_min sched_getcpu sched_getscheduler sched_setaffinity sched_setparam "
     "sched_setscheduler sem_close sem_destroy sem_init sem_unlink semget setns sigaddset sigdelset "
     "sigemptyset sigfillset sigismember sin sinf sinh sinhf sinhl sinl socket sqrt sqrtf sqrtl srand "
     "srand48 srandom strerror sysconf tan tanf tanh tanhf tanhl tanl thrd_current thrd_equal thrd_yield "
     "tolower toupper trunc truncf truncl tss_delete umask unshare "},
    {PT_CF_CALL_READS,
     "__printf_chk __vprintf_chk access atof atoi atol bind chdir chmod clearerr creat fdopen feof ferror "
     "fileno fopen fseek fseeko ftell ftello getenv memcmp mkdir open open64 openat perror printf puts "
     "pwrite pwrite64 remove rename rewind rmdir setenv setsockopt strcasecmp strcmp strcoll strcspn "
     "strlen strncasecmp strncmp strnlen strspn syslog system ungetc unlink unsetenv vprintf warn warnx "},
    {PT_CF_CALL_STOPS, "__assert __assert_perror_fail __chk_fail __stack_chk_fail abort err errx "
                       "exit quick_exit "},
    {PT_CF_CALL_UNKNOWN, "bsearch memchr memmem memrchr posix_memalign posix_spawn posix_spawnp pthread_getaffinity_np "
                         "pthread_getattr_default_np pthread_getattr_np pthread_getcpuclockid pthread_getspecific "
                         "pthread_setspecific rand_r sched_getaffinity sched_getparam sched_rr_get_interval sem_open "
                         "strcasestr strchr strchrnul strpbrk strrchr strstr tss_get tss_set "},
};

static const struct {
    enum pt_cf_call_kind kind;
    const char *beginning;
} families[] = {
    {PT_CF_CALL_NOTHING, "portent_"},
    {PT_CF_CALL_NOTHING, "__portent_"},
    {PT_CF_CALL_NOTHING, "llvm."},
    {PT_CF_CALL_NOTHING, "pthread_attr_"},
    {PT_CF_CALL_NOTHING, "pthread_mutexattr_"},
    {PT_CF_CALL_NOTHING, "pthread_condattr_"},
    {PT_CF_CALL_NOTHING, "pthread_rwlockattr_"},
    {PT_CF_CALL_NOTHING, "pthread_barrierattr_"},
    {PT_CF_CALL_NOTHING, "posix_spawnattr_"},
    {PT_CF_CALL_NOTHING, "posix_spawn_file_actions_"},
};

struct name {
    const char *text;
    size_t len;
    enum pt_cf_call_kind kind;
};

static int compare(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    int order = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

static size_t sort_names(struct name *names)
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (const char *at = lists[i].names; *at && count < MAX_NAMES;) {
            size_t len = strcspn(at, " ");
            names[count++] = (struct name){at, len, lists[i].kind};
            at += len + 1;
        }
    }
    qsort(names, count, sizeof *names, compare);
    return count;
}

bool pt_cf_library(const char *name, size_t len, enum pt_cf_call_kind *ret_kind)
{
    static struct name names[MAX_NAMES];
    static size_t count;
    if (!count)
        count = sort_names(names);
    struct name wanted = {.text = name, .len = len};
    const struct name *found = bsearch(&wanted, names, count, sizeof *names, compare);
    if (found) {
        *ret_kind = found->kind;
        return true;
    }
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (strncmp(name, families[i].beginning, strlen(families[i].beginning)) == 0) {
            *ret_kind = families[i].kind;
            return true;
        }
    }
    return false;
}

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

bool pt_cf_lends(LLVMValueRef call, const char *name)
{
    static const char *const buffers[] = {"setbuf", "setbuffer", "setvbuf"};
    static const char *const others[] = {"aio_read",   "aio_read64",   "aio_write",      "aio_write64",     "fmemopen",
                                         "lio_listio", "lio_listio64", "open_memstream", "open_wmemstream", "putenv"};
    if (is_among(name, buffers, sizeof buffers / sizeof *buffers)) /* without a buffer it only sets a mode */
        return LLVMGetNumArgOperands(call) < 2 || !LLVMIsNull(LLVMGetOperand(call, 1));
    return is_among(name, others, sizeof others / sizeof *others);
}

bool pt_cf_forgets(const char *name)
{
    static const char *const names[] = {"bsearch", "qsort", "qsort_r"};
    return is_among(name, names, sizeof names / sizeof *names);
}
