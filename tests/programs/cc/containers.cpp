/* Random operations on trees and lists, and what they look like afterwards, down to colours and links. */
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <set>

static unsigned long seen = 14695981039346656037ul;

static void add(unsigned long value)
{
    seen = (seen ^ value) * 1099511628211ul;
}

static void look(const std::_Rb_tree_node_base *node, const std::_Rb_tree_node_base *parent)
{
    if (!node) {
        add(0);
        return;
    }
    if (node->_M_parent != parent)
        abort();
    add(1 + node->_M_color);
    add(static_cast<unsigned long>(*reinterpret_cast<const int *>(node + 1)));
    look(node->_M_left, node);
    look(node->_M_right, node);
}

template <class Tree> static void look(const Tree &tree)
{
    const std::_Rb_tree_node_base *header = tree.end()._M_node;
    look(header->_M_parent, header);
    if (!tree.empty() && (header->_M_left != tree.begin()._M_node || header->_M_right != std::prev(tree.end())._M_node))
        abort();
    for (auto at = tree.rbegin(); at != tree.rend(); ++at)
        add(7);
}

static void look(const std::list<int> &list)
{
    for (int value : list)
        add(static_cast<unsigned long>(value));
    for (auto at = list.rbegin(); at != list.rend(); ++at)
        add(static_cast<unsigned long>(*at));
    add(list.size());
}

static void trees(int count, int range)
{
    std::map<int, int> map;
    std::multiset<int> set;
    for (int i = 0; i < count; i++) {
        int key = rand() % range;
        if (rand() % 3)
            map[key] = i;
        else
            map.erase(key);
        if (rand() % 2)
            set.insert(key);
        else if (auto at = set.lower_bound(key); at != set.end())
            set.erase(at);
        if (i % 16 == 0) {
            look(map);
            look(set);
        }
    }
    while (!set.empty()) {
        set.erase(rand() % 2 ? set.begin() : std::prev(set.end()));
        look(set);
    }
}

static void lists(int count)
{
    std::list<int> one, two;
    for (int i = 0; i < count; i++) {
        std::list<int> &list = rand() % 2 ? one : two;
        auto at = list.begin();
        std::advance(at, list.empty() ? 0 : rand() % list.size());
        switch (rand() % 8) {
        case 0:
            one.swap(two);
            break;
        case 1:
            list.reverse();
            break;
        case 2:
            one.splice(one.begin(), two);
            break;
        case 3:
            two.splice(two.end(), one, one.begin(), std::next(one.begin(), static_cast<long>(one.size() / 2)));
            break;
        case 4:
            list.sort();
            break;
        case 5:
            if (at != list.end())
                list.erase(at);
            break;
        default:
            list.insert(at, rand() % 100);
            break;
        }
        look(one);
        look(two);
    }
}

int main()
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        srand(seed);
        trees(600, 20 + static_cast<int>(seed) * 20);
        lists(300);
        printf("%u %016lx\n", seed, seen);
    }
    return 0;
}
