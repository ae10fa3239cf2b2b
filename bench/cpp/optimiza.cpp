// The comment's f(n, mask) on optimiza, plainly: from the highest layer down, inside each group of joined cells a table
// over sets of cells and starts. Boards that wrap in eight directions only. At most 22 joined cells.
// Usage: optimiza [RUNS] < board. Prints the best sum (-1 if a group is too large) and the fastest run's milliseconds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

static const int MOST = 22;
static int size;
static std::vector<int> value;

static std::vector<int> ends(int cell) {
    std::vector<int> found;
    int k = value[cell];
    for (int down = -1; down <= 1; down++)
        for (int right = -1; right <= 1; right++) {
            int row = ((cell / size + down * k) % size + size) % size;
            int column = ((cell % size + right * k) % size + size) % size;
            int end = row * size + column;
            if (end != cell && value[end] >= k && std::find(found.begin(), found.end(), end) == found.end())
                found.push_back(end);
        }
    return found;
}

static void solve_group(const std::vector<int>& group, int k, const std::vector<int>& worth, std::vector<int>& best) {
    int count = (int)group.size();
    std::vector<int> near(count, 0);
    for (int i = 0; i < count; i++)
        for (int end : ends(group[i]))
            for (int j = 0; j < count; j++)
                if (group[j] == end) near[i] |= 1 << j;
    std::vector<short> table((size_t)count << count, -1);
    for (int cells = 1; cells < 1 << count; cells++)
        for (int i = 0; i < count; i++) {
            if (!(cells >> i & 1)) continue;
            int rest = cells ^ 1 << i, most = rest ? -1 : worth[group[i]];
            for (int beyond = near[i] & rest; beyond; beyond &= beyond - 1)
                most = std::max<int>(most, table[(size_t)rest * count + __builtin_ctz(beyond)]);
            table[(size_t)cells * count + i] = (short)most;
            if (most >= 0) best[group[i]] = std::max(best[group[i]], most + k * __builtin_popcount(cells));
        }
}

static int solve() {
    std::vector<int> best(size * size, 0), worth(size * size, 0);
    for (int k = size; k >= 1; k--) {
        std::vector<char> seen(size * size, 0);
        for (int first = 0; first < size * size; first++) {
            if (value[first] != k || seen[first]) continue;
            std::vector<int> group(1, first);
            seen[first] = 1;
            for (size_t at = 0; at < group.size(); at++)
                for (int end : ends(group[at])) {
                    if (value[end] > k) worth[group[at]] = std::max(worth[group[at]], best[end]);
                    if (value[end] == k && !seen[end]) seen[end] = 1, group.push_back(end);
                }
            if (group.size() > MOST) return -1;
            solve_group(group, k, worth, best);
        }
    }
    return *std::max_element(best.begin(), best.end());
}

int main(int count, char** arguments) {
    if (scanf("%d", &size) != 1) return 1;
    value.resize(size * size);
    for (int& number : value)
        if (scanf("%d", &number) != 1) return 1;
    double fastest = 1e18;
    int best = 0;
    for (int run = count > 1 ? atoi(arguments[1]) : 1; run > 0; run--) {
        auto started = std::chrono::steady_clock::now();
        best = solve();
        std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - started;
        fastest = std::min(fastest, taken.count());
    }
    printf("%d %.3f\n", best, fastest);
}
