/*
 * A load for lmdb, which has no program with threads of its own: lmdb_load FOLDER ROUNDS. One thread writes ROUNDS
 * transactions of a hundred keys; meanwhile two lines of threads, one after the other, read ranges: many threads, so
 * that slots in the table of readers are taken and given back all the time. Prints a checksum of what is there in the
 * end.
 */
#include <lmdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READERS = 2, KEYS = 2000, TURN = 5 };
static MDB_env *env;
static MDB_dbi table;
static int rounds;
int written; /* keys: what lmdb.prop speaks of */

static void need(int status)
{
    if (status != MDB_SUCCESS) {
        fprintf(stderr, "lmdb_load: %s\n", mdb_strerror(status));
        exit(1);
    }
}

static void *write_all(void *unused)
{
    unsigned next = 1;
    for (int round = 0; round < rounds; round++) {
        MDB_txn *transaction;
        need(mdb_txn_begin(env, NULL, 0, &transaction));
        for (int i = 0; i < 100; i++) {
            char name[16], text[64];
            next = next * 1103515245 + 12345;
            MDB_val key = {(size_t)snprintf(name, sizeof name, "key%06u", next / 65536 % KEYS), name};
            MDB_val value = {(size_t)snprintf(text, sizeof text, "value %d of round %d", i, round), text};
            need(mdb_put(transaction, table, &key, &value, 0));
            written++;
        }
        need(mdb_txn_commit(transaction));
    }
    return unused;
}

static unsigned long sum(int limit)
{
    MDB_txn *transaction;
    MDB_cursor *cursor;
    MDB_val key, value;
    unsigned long result = 0;
    need(mdb_txn_begin(env, NULL, MDB_RDONLY, &transaction));
    need(mdb_cursor_open(transaction, table, &cursor));
    for (int i = 0; i < limit && mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_SUCCESS; i++)
        for (size_t k = 0; k < value.mv_size; k++)
            result = result * 31 + ((unsigned char *)value.mv_data)[k];
    mdb_cursor_close(cursor);
    mdb_txn_abort(transaction);
    return result;
}

static void *read_some(void *unused)
{
    unsigned long all = 0;
    for (int round = 0; round < TURN; round++)
        all += sum(200);
    *(unsigned long *)unused += all;
    return unused;
}

static void *line_of_readers(void *unused)
{
    for (int round = 0; round < rounds; round += TURN) {
        pthread_t reader;
        pthread_create(&reader, NULL, read_some, unused);
        pthread_join(reader, NULL);
    }
    return unused;
}

int main(int count, char **arguments)
{
    pthread_t writer, readers[READERS];
    unsigned long sums[READERS] = {0};
    MDB_txn *transaction;
    rounds = count > 2 ? atoi(arguments[2]) : 100;
    need(mdb_env_create(&env));
    need(mdb_env_set_mapsize(env, 64 << 20));
    need(mdb_env_open(env, arguments[1], MDB_NOSYNC, 0644));
    need(mdb_txn_begin(env, NULL, 0, &transaction));
    need(mdb_dbi_open(transaction, NULL, 0, &table));
    need(mdb_txn_commit(transaction));
    pthread_create(&writer, NULL, write_all, NULL);
    for (int i = 0; i < READERS; i++)
        pthread_create(&readers[i], NULL, line_of_readers, &sums[i]);
    pthread_join(writer, NULL);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    printf("%lu\n", sum(KEYS));
    mdb_env_close(env);
    return 0;
}
