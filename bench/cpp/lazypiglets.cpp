// The source's search for Lazy Piglets, plainly: A* over sorted states, their depths in a std::map. The estimate is the
// best assignment of piglets to haystacks by distances between all cells (Floyd and Warshall) in which a piglet may jump
// over any free cell. Of equal sums the last state in the order of its cells comes first; the search ends when the goal
// is generated. Reads an input file, prints the least number of steps and the states met. It has no answer where there
// is no way: do not ask it there.
#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <numeric>
#include <queue>
#include <string>
#include <utility>
#include <vector>

using State = std::array<int, 4>;

static const int FAR = 1000000;
static int size, pigs;
static std::vector<std::string> rows;
static std::vector<std::vector<int>> steps_between;
static const int DOWN[] = {-1, 0, 1, 0}, RIGHT[] = {0, 1, 0, -1};

static bool is_free(int r, int c) { return r >= 0 && c >= 0 && r < size && c < size && rows[r][c] == '.'; }

static void measure() {
    const int cells = size * size;
    steps_between.assign(cells, std::vector<int>(cells, FAR));
    for (int cell = 0; cell < cells; cell++) {
        const int r = cell / size, c = cell % size;
        if (!is_free(r, c)) continue;
        steps_between[cell][cell] = 0;
        for (int d = 0; d < 4; d++)
            for (int length = 1; length <= 2 && is_free(r + length * DOWN[d], c + length * RIGHT[d]); length++)
                steps_between[cell][cell + length * (DOWN[d] * size + RIGHT[d])] = 1;
    }
    for (int by = 0; by < cells; by++)
        for (int from = 0; from < cells; from++)
            for (int to = 0; to < cells; to++)
                steps_between[from][to] =
                    std::min(steps_between[from][to], steps_between[from][by] + steps_between[by][to]);
}

static int estimate(const State& state, const State& goal) {
    int best = pigs * FAR;
    std::array<int, 4> order;
    std::iota(order.begin(), order.end(), 0);
    do {
        int sum = 0;
        for (int i = 0; i < pigs; i++) sum += steps_between[goal[order[i]]][state[i]];
        best = std::min(best, sum);
    } while (std::next_permutation(order.begin(), order.begin() + pigs));
    return best;
}

static State read_cells() {
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
    const State start = read_cells(), goal = read_cells();
    measure();
    std::map<State, int> depths{{start, 0}};
    std::priority_queue<std::pair<int, State>> waiting;
    waiting.push({-estimate(start, goal), start});
    while (!depths.count(goal)) {
        const State state = waiting.top().second;
        waiting.pop();
        const int depth = depths[state] + 1;
        const auto taken = [&](int row, int column) {
            return std::find(state.begin(), state.end(), row * size + column) != state.end();
        };
        for (int i = 0; i < pigs; i++)
            for (int d = 0; d < 4; d++) {
                int r = state[i] / size + DOWN[d], c = state[i] % size + RIGHT[d];
                if (!is_free(r, c)) continue;
                if (taken(r, c)) r += DOWN[d], c += RIGHT[d];
                if (!is_free(r, c) || taken(r, c)) continue;
                State after = state;
                after[i] = r * size + c;
                std::sort(after.begin(), after.end());
                const auto known = depths.find(after);
                if (known != depths.end() && known->second <= depth) continue;
                depths[after] = depth;
                waiting.push({-depth - estimate(after, goal), after});
            }
    }
    std::cout << depths[goal] << " " << depths.size() << "\n";
}
