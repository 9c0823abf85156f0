/* Messages of 32 bytes in a std::atomic: libatomic's. `RACE`: the payload is written once more when it was published. */
#include <atomic>
#include <cstdio>
#include <thread>
struct message {
    long number, a, b, c;
};
std::atomic<message> box;
message expected; /* what an exchange that fails tells */
long payload;

static void send()
{
    payload = 42;
    box.store({1, 2, 3, 4}, std::memory_order_release);
#ifdef RACE
    payload = 43;
#endif
}

static void receive()
{
    message got;
    while ((got = box.load(std::memory_order_acquire)).number != 1)
        std::this_thread::yield();
    long read = payload;
    payload = read + 1;
    if (!box.compare_exchange_strong(expected, {9, 9, 9, 9}))
        box.compare_exchange_strong(expected, {2, 3, 4, 5});
    box.exchange({3, 4, 5, 6});
}

int main()
{
    std::thread sender(send), receiver(receive);
    sender.join();
    receiver.join();
    std::printf("%ld %ld %ld\n", box.load().number, box.load().c, expected.number);
}
