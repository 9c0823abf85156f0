"""Random C programs whose threads start and join each other anywhere, in blocks too, which SML cannot say."""

HEAD = ["#include <pthread.h>", "#include <stdlib.h>", '#include "portent.h"']


class Maker:
    """One program; `rng` decides everything."""

    def __init__(self, rng):
        self.rng, self.blocks = rng, 0
        self.globals = ["x", "y", "z"][:rng.randint(1, 3)]
        self.locks = ["l", "m"][:rng.randint(0, 2)]

    def block(self, body):
        self.blocks += 1
        return [f'portent_begin("b{self.blocks}");', *body, f'portent_end("b{self.blocks}");']

    def statement(self, depth, may_block):
        rng, name = self.rng, self.rng.choice(self.globals)
        kind = rng.random()
        if kind < 0.16 and self.locks:
            lock = rng.choice(self.locks)
            return [f"pthread_mutex_lock(&{lock});", *self.body(depth + 1, may_block, 2), f"pthread_mutex_unlock(&{lock});"]
        if kind < 0.36 and depth < 2:
            return [rng.choice(("if", "while")) + " (rand()) {", *self.body(depth + 1, False, 2), "}"]
        if kind < 0.55 and may_block and depth < 3:
            return self.block(self.body(depth + 1, rng.random() < 0.3, 4))
        return [rng.choice((f"{name} = rand();", f"(void)*(volatile int *)&{name};", f"{name}++;",
                            f"__atomic_fetch_add(&{name}, 1, 5);"))]

    def body(self, depth, may_block, most):
        return [line for _ in range(self.rng.randint(1, most)) for line in self.statement(depth, may_block)]

    def thread(self):
        body = self.body(0, self.rng.random() < 0.6, 3)
        kind = self.rng.random()
        return [] if kind < 0.1 else ["while (1) {", *body, "}"] if kind < 0.25 else body

    def text(self):
        rng, count = self.rng, self.rng.randint(1, 4)
        alike = rng.random() < 0.4
        bodies = [self.thread() for _ in range(1 if alike else count)]
        main = self.body(0, False, 1) if rng.random() < 0.3 else []
        for k in range(count):
            function = 0 if alike else k
            added = [f"pthread_create(&t{k}, 0, run{function}, 0);"]
            if rng.random() < 0.5:
                added += self.body(0, rng.random() < 0.5, 2)
            if rng.random() < 0.6:
                added.append(f"pthread_join(t{k}, 0);")
            if rng.random() < 0.35:
                added = self.block(added)
            target = main if alike or k == 0 or rng.random() < 0.67 else bodies[k - 1]
            target[:] = target + added if rng.random() < 0.7 else added + target
        out = HEAD + [f"static int {g};" for g in self.globals] + [f"static pthread_t t{k};" for k in range(count)]
        out += [f"static pthread_mutex_t {lock} = PTHREAD_MUTEX_INITIALIZER;" for lock in self.locks]
        for k in reversed(range(len(bodies))):
            out += [f"static void *run{k}(void *arg)", "{", *bodies[k], "return arg;", "}"]
        return "\n".join([*out, "int main(void)", "{", *main, "return 0;", "}"]) + "\n"


def program(rng):
    """The text of a random program."""
    return Maker(rng).text()
