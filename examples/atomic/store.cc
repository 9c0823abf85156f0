// A store with two maintenance tasks that must not run at once: a backup copies the files that a compaction rewrites.
// Each looks for the other before it starts. Every access is a sequentially consistent atomic, and it is wrong all the
// same: to look and to start are two steps.
#include <atomic>
#include <chrono>
#include <thread>

namespace
{

std::atomic<bool> backing_up{false};
std::atomic<bool> compacting{false};

void pause(int steps)
{
    std::this_thread::sleep_for(std::chrono::milliseconds(50 * steps));
}

// From 2 pauses to 3.
void backup()
{
    pause(2);
    if (compacting)
        return;
    backing_up = true;
    pause(1);
    backing_up = false;
}

// From 6 pauses to 7; what is to be compacted takes a while to choose.
void compact()
{
    if (backing_up)
        return;
    pause(6);
    compacting = true;
    pause(1);
    compacting = false;
}

} // namespace

int main()
{
    std::thread first(backup), second(compact);
    first.join();
    second.join();
    return 0;
}
