#include "net/firing.h"

static bool is_enabled(const struct pt_net *net, uint32_t transition, const bool *marked)
{
    for (uint32_t i = 0; i < net->transitions[transition].pre_count; i++) {
        if (!marked[pt_net_pre(net, transition)[i]])
            return false;
    }
    return true;
}

bool pt_firing_replay(const struct pt_net *net, const uint32_t *firings, uint32_t count, bool *ret_marked)
{
    for (uint32_t p = 0; p < net->place_count; p++)
        ret_marked[p] = net->places[p].marked;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t t = firings[k];
        if (!is_enabled(net, t, ret_marked))
            return false;
        for (uint32_t i = 0; i < net->transitions[t].pre_count; i++)
            ret_marked[pt_net_pre(net, t)[i]] = false;
        for (uint32_t i = 0; i < net->transitions[t].post_count; i++) {
            uint32_t place = pt_net_post(net, t)[i];
            if (ret_marked[place])
                return false;
            ret_marked[place] = true;
        }
    }
    return true;
}

bool pt_firing_enables(const struct pt_net *net, const bool *marked)
{
    for (uint32_t t = 0; t < net->transition_count; t++) {
        if (is_enabled(net, t, marked))
            return true;
    }
    return false;
}
