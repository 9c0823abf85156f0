/* The standard library's containers, strings and shared pointers.
 * life: none
 * flags: -std=c++17
 */
#include "races.h"
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

int main()
{
    std::map<std::string, std::vector<int>> map;
    std::list<std::shared_ptr<std::string>> list;
    std::deque<std::unique_ptr<int>> deque;
    for (int i = 0; i < 300; i++) {
        map[std::to_string(i % 50)].push_back(i);
        list.push_back(std::make_shared<std::string>(100, 'a'));
        deque.push_back(std::make_unique<int>(i));
        if (i % 3 == 0) {
            list.pop_front();
            deque.pop_front();
        }
        if (i % 7 == 0)
            map.erase(std::to_string((i + 3) % 50));
    }
    std::ostringstream out;
    for (auto &[name, numbers] : map)
        out << name << ' ' << numbers.size() << std::endl;
    NEED(!out.str().empty());
    return 0;
}
