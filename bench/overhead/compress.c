// A CPU-bound parallel compressor in the manner of pbzip2: threads take blocks of generated text in turn and compress
// each with a small LZ77 (a hash of three bytes, one candidate, greedy), unpack the result and compare. Nearly all
// accesses are to memory of one thread at a time; the block counter is all they share.
#include <stdbool.h>

#include "work.h"

enum { BLOCK = 1 << 16, HASH_BITS = 12, SHORTEST = 4, LONGEST = 255 + SHORTEST, FAR = 65535 };

struct block {
    unsigned char plain[BLOCK];
    unsigned char packed[BLOCK + BLOCK / 8 + 16];
    unsigned char again[BLOCK];
    size_t length;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks;
static long block_count;
long next_block;
long blocks_done;
long blocks_bad;

// Words of a small vocabulary: compressible about as well as text.
static void fill(unsigned char *out, uint64_t seed)
{
    static const char *const word[] = {"lock ",  "thread ", "clock ",   "event ",
                                       "order ", "cut ",    "lattice ", "monitor "};
    uint64_t state = seed * 2 + 1;
    for (size_t at = 0; at < BLOCK;) {
        state = random_next(state);
        const uint64_t value = random_value(state) >> 32;
        if ((value & 7) == 0) {
            out[at++] = (unsigned char)('a' + value / 8 % 26);
            continue;
        }
        for (const char *letter = word[value / 8 % 8]; *letter != '\0' && at < BLOCK; letter++) {
            out[at++] = (unsigned char)*letter;
        }
    }
}

static unsigned hash(const unsigned char *at)
{
    const uint32_t key = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
    return key * 2654435761U >> (32 - HASH_BITS);
}

// Each group of eight items has a byte of flags: a literal byte, or distance (2 bytes) and length (1 byte).
static size_t pack(const unsigned char *in, unsigned char *out)
{
    int32_t last[1 << HASH_BITS];
    memset(last, 0xff, sizeof last);
    size_t size = 0;
    size_t flags = 0;
    int item = 8;
    for (int32_t at = 0; at < BLOCK;) {
        if (item == 8) {
            flags = size++;
            out[flags] = 0;
            item = 0;
        }
        int32_t length = 0;
        int32_t from = -1;
        if (at + SHORTEST <= BLOCK) {
            const unsigned h = hash(in + at);
            from = last[h];
            last[h] = at;
            if (from >= 0 && at - from <= FAR) {
                while (length < LONGEST && at + length < BLOCK && in[from + length] == in[at + length])
                    length++;
            }
        }
        if (length >= SHORTEST) {
            out[flags] |= (unsigned char)(1 << item);
            out[size++] = (unsigned char)((at - from) & 255);
            out[size++] = (unsigned char)((at - from) >> 8);
            out[size++] = (unsigned char)(length - SHORTEST);
            at += length;
        } else {
            out[size++] = in[at++];
        }
        item++;
    }
    return size;
}

static void unpack(const unsigned char *in, size_t size, unsigned char *out)
{
    size_t to = 0;
    for (size_t at = 0; at < size;) {
        const unsigned flags = in[at++];
        for (int item = 0; item < 8 && at < size; item++) {
            if ((flags >> item & 1) == 0) {
                out[to++] = in[at++];
                continue;
            }
            const size_t distance = in[at] | (size_t)in[at + 1] << 8;
            for (size_t left = in [at + 2] + (size_t)SHORTEST; left > 0; left--, to++)
                out[to] = out[to - distance];
            at += 3;
        }
    }
}

static long take_block(void)
{
    pthread_mutex_lock(&lock);
    const long block = next_block < block_count ? next_block++ : -1;
    pthread_mutex_unlock(&lock);
    return block;
}

static void *worker(void *unused)
{
    (void)unused;
    for (long i = take_block(); i >= 0; i = take_block()) {
        struct block *block = &blocks[i];
        fill(block->plain, (uint64_t)i);
        block->length = pack(block->plain, block->packed);
        unpack(block->packed, block->length, block->again);
        const bool same = memcmp(block->plain, block->again, BLOCK) == 0;
        pthread_mutex_lock(&lock);
        blocks_done++;
        if (!same)
            blocks_bad++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    block_count = size_argument(argc, argv, 700);
    blocks = allocate((size_t)block_count, sizeof *blocks);
    run_workers(worker);
    uint64_t sum = (uint64_t)blocks_bad;
    for (long i = 0; i < block_count; i++) {
        for (size_t at = 0; at < blocks[i].length; at += 61)
            sum = mix(sum, blocks[i].packed[at]);
        sum = mix(sum, blocks[i].length);
    }
    free(blocks);
    return print_sum(sum);
}
