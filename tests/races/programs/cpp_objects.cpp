/* Objects of a vector that was made before; each thread has its own.
 * race: none
 */
#include "races.h"
#include <string>
#include <thread>
#include <vector>

int main()
{
    std::vector<std::string> texts(3);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&texts, i] {
            for (int n = 0; n < 20; n++)
                texts[i] += "some words";
        });
    for (auto &thread : threads)
        thread.join();
    return texts[0].size() + texts[2].size() != 400;
}
