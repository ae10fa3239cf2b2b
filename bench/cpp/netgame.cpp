// The third level of netgame's editorial, plainly: a recursive search with memory over sets of whole cells, in which a
// cut takes two neighbouring cells, or one that has fewer than four neighbours among the cells still whole.
// Usage: netgame RUNS < net. Prints the winner, a winning rope or 0, and the milliseconds of the fastest run.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <utility>
#include <vector>

typedef std::pair<int, int> Point;
typedef std::pair<Point, Point> Rope;

static int cells;
static int beside[20][4];
static signed char memory[1 << 20];

static bool wins(int whole) {
    if (memory[whole] >= 0) return memory[whole];
    bool won = false;
    for (int cell = 0; cell < cells && !won; cell++) {
        if (!(whole >> cell & 1)) continue;
        int neighbours = 0;
        for (int side = 0; side < 4 && !won; side++) {
            int other = beside[cell][side];
            if (other < 0 || !(whole >> other & 1)) continue;
            neighbours++;
            if (other > cell) won = !wins(whole & ~(1 << cell) & ~(1 << other));
        }
        if (!won && neighbours < 4) won = !wins(whole & ~(1 << cell));
    }
    return memory[whole] = won;
}

static int winning_rope(const std::vector<Rope>& ropes) {
    std::set<Rope> known(ropes.begin(), ropes.end());
    std::vector<Point> corners;
    for (const Rope& rope : ropes) {
        int x = rope.first.first, y = rope.first.second;
        if (rope.second.first == x) continue;
        if (known.count({{x, y}, {x, y + 1}}) && known.count({{x + 1, y}, {x + 1, y + 1}}) &&
            known.count({{x, y + 1}, {x + 1, y + 1}}))
            corners.push_back({x, y});
    }
    std::sort(corners.begin(), corners.end());
    std::map<Point, int> numbers;
    cells = (int)corners.size();
    for (int cell = 0; cell < cells; cell++) numbers[corners[cell]] = cell;
    auto at = [&](int x, int y) { return numbers.count({x, y}) ? numbers[{x, y}] : -1; };
    for (int cell = 0; cell < cells; cell++) {
        int x = corners[cell].first, y = corners[cell].second;
        int around[4] = {at(x + 1, y), at(x - 1, y), at(x, y + 1), at(x, y - 1)};
        std::copy(around, around + 4, beside[cell]);
    }
    memset(memory, -1, (size_t)1 << cells);
    int all = (1 << cells) - 1;
    for (size_t number = 0; number < ropes.size(); number++) {
        int x = ropes[number].first.first, y = ropes[number].first.second;
        bool level = ropes[number].second.first != x;
        int opened = 0;
        for (int cell : {at(x, y), level ? at(x, y - 1) : at(x - 1, y)})
            if (cell >= 0) opened |= 1 << cell;
        if (opened && !wins(all & ~opened)) return (int)number + 1;
    }
    return 0;
}

int main(int argc, char** argv) {
    int runs = argc > 1 ? atoi(argv[1]) : 1, count;
    if (scanf("%d", &count) != 1) return 2;
    std::vector<Rope> ropes(count);
    for (Rope& rope : ropes) {
        int a, b, c, d;
        if (scanf("%d %d %d %d", &a, &b, &c, &d) != 4) return 2;
        rope = {std::min(Point(a, b), Point(c, d)), std::max(Point(a, b), Point(c, d))};
    }
    double best = 1e9;
    int rope = 0;
    for (int run = 0; run < runs; run++) {
        auto started = std::chrono::steady_clock::now();
        rope = winning_rope(ropes);
        std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - started;
        best = std::min(best, taken.count());
    }
    printf("%d %d %.4f\n", rope ? 1 : 2, rope, best);
}
