// The editorial's search for Lazy Piglets, plainly: A* over sorted states kept in a std::map, the estimate being the
// best assignment of piglets to haystacks by distances in which a piglet may jump wherever it likes, also over trees.
// Reads an input file, prints the least number of steps. It never ends where there is no way: do not ask it there.
#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <numeric>
#include <string>
#include <vector>

using State = std::array<int, 4>;

int size, pigs;
std::vector<std::string> rows;
std::vector<std::vector<int>> far_to;  // for each haystack, from each cell
const int DOWN[] = {-1, 0, 1, 0}, RIGHT[] = {0, 1, 0, -1};

bool is_free(int r, int c) { return r >= 0 && c >= 0 && r < size && c < size && rows[r][c] == '.'; }

std::vector<int> distances(int start) {
    std::vector<int> steps(size * size, 1000000), queue{start};
    steps[start] = 0;
    for (size_t head = 0; head < queue.size(); head++)
        for (int d = 0; d < 4; d++)
            for (int length = 1; length <= 2; length++) {
                int r = queue[head] / size + length * DOWN[d], c = queue[head] % size + length * RIGHT[d];
                if (!is_free(r, c) || steps[r * size + c] < 1000000) continue;
                steps[r * size + c] = steps[queue[head]] + 1;
                queue.push_back(r * size + c);
            }
    return steps;
}

int estimate(const State& state) {
    int best = 1000000;
    std::array<int, 4> order;
    std::iota(order.begin(), order.end(), 0);
    do {
        int sum = 0;
        for (int i = 0; i < pigs; i++) sum += far_to[order[i]][state[i]];
        best = std::min(best, sum);
    } while (std::next_permutation(order.begin(), order.begin() + pigs));
    return best;
}

State read_cells() {
    State state;
    state.fill(1 << 20);  // sorts behind all cells
    for (int i = 0, r, c; i < pigs; i++) {
        std::cin >> r >> c;
        state[i] = (r - 1) * size + c - 1;
    }
    std::sort(state.begin(), state.end());
    return state;
}

int main() {
    std::cin >> size;
    rows.resize(size);
    for (auto& row : rows) std::cin >> row;
    std::cin >> pigs;
    State start = read_cells(), goal = read_cells();
    for (int i = 0; i < pigs; i++) far_to.push_back(distances(goal[i]));
    std::map<State, int> steps{{start, 0}};
    std::vector<std::vector<State>> waiting(100000);
    waiting[estimate(start)].push_back(start);
    for (size_t total = 0; total < waiting.size(); total++)
        while (!waiting[total].empty()) {
            State state = waiting[total].back();
            waiting[total].pop_back();
            int depth = steps[state];
            if (depth + estimate(state) < (int)total) continue;  // a shorter way was found since
            if (state == goal) {
                std::cout << depth << "\n";
                return 0;
            }
            for (int i = 0; i < pigs; i++)
                for (int d = 0; d < 4; d++) {
                    int r = state[i] / size + DOWN[d], c = state[i] % size + RIGHT[d];
                    auto taken = [&](int row, int column) {
                        return std::find(state.begin(), state.end(), row * size + column) != state.end();
                    };
                    if (!is_free(r, c)) continue;
                    if (taken(r, c)) r += DOWN[d], c += RIGHT[d];
                    if (!is_free(r, c) || taken(r, c)) continue;
                    State after = state;
                    after[i] = r * size + c;
                    std::sort(after.begin(), after.end());
                    auto known = steps.find(after);
                    if (known != steps.end() && known->second <= depth + 1) continue;
                    steps[after] = depth + 1;
                    waiting[depth + 1 + estimate(after)].push_back(after);
                }
        }
    return 1;
}
