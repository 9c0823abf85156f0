/*
 * Runs a fuzz target over stored inputs, in builds that have no libFuzzer: so that every compiler and
 * sanitizer sees the corpus, and an input that once broke something stays a test.
 *
 *   fuzz_x [FILE|FOLDER]...
 *
 * The empty input is always tried first. Each input lies in an allocation of exactly its size, so that
 * AddressSanitizer notices the first byte read past it. A file that cannot be read is a failure, not a skip.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const char *path, const char *what)
{
    fprintf(stderr, "%s: %s\n", path, what);
    exit(2);
}

static void replay_file(const char *path, size_t size)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        fail(path, strerror(errno));
    uint8_t *data = malloc(size ? size : 1);
    if (!data)
        fail(path, "out of memory");
    if (fread(data, 1, size, f) != size)
        fail(path, "shorter than expected");
    fclose(f);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
}

/* Returns the number of inputs found at or under `path`. */
static unsigned long replay(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        fail(path, strerror(errno));
    if (!S_ISDIR(st.st_mode)) {
        replay_file(path, (size_t)st.st_size);
        return 1;
    }
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort);
    if (n < 0)
        fail(path, strerror(errno));
    unsigned long count = 0;
    for (int i = 0; i < n; i++) {
        char inner[4096];
        if (entries[i]->d_name[0] != '.') {
            if (snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name) >= (int)sizeof inner)
                fail(path, "path too long");
            count += replay(inner);
        }
        free(entries[i]);
    }
    free(entries);
    return count;
}

int main(int argc, char **argv)
{
    unsigned long count = 1;
    uint8_t nothing = 0;
    LLVMFuzzerTestOneInput(&nothing, 0);
    for (int i = 1; i < argc; i++)
        count += replay(argv[i]);
    printf("%lu inputs replayed\n", count);
    return 0;
}
