// The method of the match's second place, plainly: a random target that is not right, the nearest ball of its colour, and
// a beam over that ball and a few near it (one more after each failure), by points and then by the ball's distance.
// `rollingballs SECONDS < input` prints points2, rolls, restarts and seconds.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

static const int WALL = -2, FREE = -1, DEPTH = 20, WIDTH = 250, MOST_MOVERS = 10, FAR = 1 << 20;

struct State {
    int16_t at[MOST_MOVERS + 1];
    int points, parent, mover, way;
    float rank;
};
struct Roll {
    int from, way, to;
};

static int height, width, line, steps[4];
static std::vector<int> target;
static std::mt19937 draw(1);

static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static std::vector<int> read_board() {
    if (std::scanf("%d", &height) != 1) std::exit(2);
    std::vector<int> cells;
    for (int r = 0; r < height; r++) {
        char row[128];
        if (std::scanf("%127s", row) != 1) std::exit(2);
        width = (int)std::string(row).size();
        line = width + 2;
        if (r == 0) cells.assign(line * (height + 2), WALL);
        for (int c = 0; c < width; c++)
            cells[(r + 1) * line + c + 1] = row[c] == '#' ? WALL : row[c] == '.' ? FREE : row[c] - '0';
    }
    return cells;
}

static int worth(int cell, int colour) { return target[cell] < 0 ? 0 : target[cell] == colour ? 2 : 1; }

static int points_of(const std::vector<int>& cells) {
    int sum = 0;
    for (size_t i = 0; i < cells.size(); i++)
        if (cells[i] >= 0) sum += worth((int)i, cells[i]);
    return sum;
}

static std::vector<int> distances(const std::vector<int>& cells, int goal) {  // in cells, through balls
    std::vector<int> distance(cells.size(), FAR), queue{goal};
    distance[goal] = 0;
    for (size_t head = 0; head < queue.size(); head++)
        for (int step : steps) {
            const int to = queue[head] + step;
            if (cells[to] != WALL && distance[to] == FAR) {
                distance[to] = distance[queue[head]] + 1;
                queue.push_back(to);
            }
        }
    return distance;
}

// Play the rolls of the best state of a beam, if it gains points; the movers' cells must be the first of `movers`.
static bool beam(std::vector<int>& cells, std::vector<Roll>& rolls, size_t most, std::vector<int> movers,
                 const std::vector<int>& distance) {
    const int count = (int)movers.size();
    std::vector<int> colour(count);
    for (int i = 0; i < count; i++) colour[i] = cells[movers[i]], cells[movers[i]] = FREE;
    std::vector<std::vector<State>> levels(1);
    State root{};
    for (int i = 0; i < count; i++) root.at[i] = (int16_t)movers[i], root.points += worth(movers[i], colour[i]);
    levels[0].push_back(root);
    std::unordered_set<uint64_t> seen;
    int best_level = -1, best_place = -1, best_points = root.points;
    std::uniform_real_distribution<float> noise(0, 0.01f);
    for (int depth = 0; depth < DEPTH && best_level < 0 && rolls.size() + depth < most; depth++) {
        std::vector<State> next;
        for (size_t place = 0; place < levels[depth].size(); place++) {
            const State& state = levels[depth][place];
            for (int i = 0; i < count; i++) cells[state.at[i]] = colour[i];
            for (int i = 0; i < count; i++)
                for (int way = 0; way < 4; way++) {
                    int to = state.at[i];
                    while (cells[to + steps[way]] == FREE) to += steps[way];
                    if (to == state.at[i]) continue;
                    State child = state;
                    child.points += worth(to, colour[i]) - worth(state.at[i], colour[i]);
                    child.at[i] = (int16_t)to;
                    uint64_t hash = 1469598103934665603ull;
                    for (int j = 0; j < count; j++) hash = (hash ^ (uint64_t)child.at[j]) * 1099511628211ull;
                    if (!seen.insert(hash).second) continue;
                    child.parent = (int)place, child.mover = i, child.way = way;
                    child.rank = -1000.0f * child.points + distance[child.at[0]] + noise(draw);
                    next.push_back(child);
                }
            for (int i = 0; i < count; i++) cells[state.at[i]] = FREE;
        }
        if (next.empty()) break;
        const size_t kept = std::min<size_t>(WIDTH, next.size());
        std::partial_sort(next.begin(), next.begin() + kept, next.end(),
                          [](const State& one, const State& other) { return one.rank < other.rank; });
        next.resize(kept);
        levels.push_back(next);
        if (next[0].points > best_points) best_level = depth + 1, best_place = 0, best_points = next[0].points;
    }
    std::vector<Roll> made;
    for (int level = best_level, place = best_place; level > 0; level--) {
        const State& state = levels[level][place];
        const State& before = levels[level - 1][state.parent];
        made.push_back({before.at[state.mover], state.way, state.at[state.mover]});
        place = state.parent;
    }
    const State& last = best_level > 0 ? levels[best_level][best_place] : root;
    for (int i = 0; i < count; i++) cells[last.at[i]] = colour[i];
    rolls.insert(rolls.end(), made.rbegin(), made.rend());
    return best_level > 0;
}

int main(int argc, char** argv) {
    const double limit = argc > 1 ? std::atof(argv[1]) : 9.5, began = now();
    const std::vector<int> start = read_board();
    target = read_board();
    steps[0] = -1, steps[1] = line, steps[2] = 1, steps[3] = -line;
    const int balls = (int)std::count_if(start.begin(), start.end(), [](int cell) { return cell >= 0; });
    const size_t most = 20 * (size_t)balls;
    std::vector<int> cells = start, fails(start.size(), 0);
    std::vector<Roll> rolls;
    int best = points_of(start), restarts = 0, stale = 0;
    size_t best_rolls = 0;
    while (now() - began < limit && best < 2 * balls) {
        std::vector<int> open;
        for (size_t i = 0; i < cells.size(); i++)
            if (target[i] >= 0 && cells[i] != target[i]) open.push_back((int)i);
        const int goal = open[draw() % open.size()];
        const std::vector<int> distance = distances(cells, goal);
        std::vector<std::pair<int, int>> near;
        int main_ball = -1;
        for (size_t i = 0; i < cells.size(); i++)
            if (cells[i] >= 0 && distance[i] < FAR) {
                near.push_back({distance[i], (int)i});
                const bool fits = cells[i] == target[goal] && cells[i] != target[i];
                if (fits && (main_ball < 0 || distance[i] < distance[main_ball])) main_ball = (int)i;
            }
        bool gained = false;
        if (main_ball >= 0) {
            std::sort(near.begin(), near.end());
            std::vector<int> movers{main_ball};
            const size_t wanted = 1 + fails[goal]++ % MOST_MOVERS;
            for (const auto& [_, cell] : near)
                if (cell != main_ball && movers.size() < wanted) movers.push_back(cell);
            gained = beam(cells, rolls, most, movers, distance);
        }
        stale = gained ? 0 : stale + 1;
        const int points = points_of(cells);
        if (points > best) best = points, best_rolls = rolls.size();
        if (stale > 40 + 2 * balls || rolls.size() + 1 >= most) {
            cells = start, rolls.clear(), stale = 0, restarts++;
            std::fill(fails.begin(), fails.end(), 0);
        }
    }
    std::printf("%d %zu %d %.3f\n", best, best_rolls, restarts, now() - began);
}
