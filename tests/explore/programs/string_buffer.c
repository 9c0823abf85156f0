/* append() asks the other buffer for its length, then for its characters, and it has become shorter in between.
 * bug: atomicity violation
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

struct buffer {
    pthread_mutex_t m;
    size_t length;
    char text[32];
};
static struct buffer source = {LOCK, 5, "hello"};

static size_t length_of(struct buffer *b)
{
    lock(&b->m);
    size_t length = b->length;
    unlock(&b->m);
    return length;
}

static void characters(struct buffer *b, size_t end, char *to)
{
    lock(&b->m);
    assert(end <= b->length); /* A */
    memcpy(to, b->text, end);
    unlock(&b->m);
}

static void *append(void *unused)
{
    char copy[32];
#ifdef FIXED
    lock(&source.m);
    memcpy(copy, source.text, source.length);
    unlock(&source.m);
    (void)length_of, (void)characters;
#else
    characters(&source, length_of(&source), copy);
#endif
    return unused;
}

static void *shorten(void *unused)
{
    lock(&source.m);
    source.length = 0;
    unlock(&source.m);
    return unused;
}

int main(void)
{
    both(append, shorten);
    return 0;
}
