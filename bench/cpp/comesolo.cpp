// The source's search, plainly: boards in one queue for each score, the first board taken from a queue drawn from the top
// (31 %, 21 %, 15 % ...) and dropped if its hash was met. `comesolo SECONDS < input` prints pieces eaten, boards put in,
// seconds.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

using Board = std::string;

static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main(int argc, char** argv) {
    const double limit = argc > 1 ? std::atof(argv[1]) : 5.0;
    const size_t most_boards = 4000000;  // at N = 30 a board takes about 1 kB, so 4 GB
    int n;
    if (std::scanf("%d", &n) != 1) return 2;
    Board start;
    for (int r = 0; r < n; r++) {
        char row[64];
        if (std::scanf("%63s", row) != 1) return 2;
        start += row;
    }
    std::mt19937_64 draw(1);
    std::vector<uint64_t> number(n * n);
    for (auto& value : number) value = draw();
    std::vector<std::deque<std::pair<Board, uint64_t>>> buckets(1);
    std::unordered_set<uint64_t> seen;
    buckets[0].push_back({start, 0});
    size_t met = 1;
    int top = 0, longest = 0;
    const double began = now();
    double used = 0;
    while ((used = now() - began) < limit && met < most_boards) {
        int at = -1;
        double r = std::uniform_real_distribution<>(0, 1)(draw);
        while (top >= 0 && buckets[top].empty()) top--;
        for (int score = top; score >= 0; score--) {
            if (!buckets[score].empty()) at = score;
            r *= 1.45;
            if (r >= 1 && at >= 0) break;
        }
        if (at < 0) break;
        auto [board, hash] = std::move(buckets[at].front());
        buckets[at].pop_front();
        longest = std::max(longest, at);
        if (!seen.insert(hash).second) continue;
        for (int row = 0; row < n; row++)
            for (int column = 0; column < n; column++) {
                if (board[row * n + column] != 'o') continue;
                for (int down = -1; down <= 1; down++)
                    for (int right = -1; right <= 1; right++) {
                        const int r2 = row + 2 * down, c2 = column + 2 * right;
                        if (r2 < 0 || r2 >= n || c2 < 0 || c2 >= n) continue;
                        const int from = row * n + column, over = from + down * n + right, to = r2 * n + c2;
                        if (board[over] != 'o' || board[to] != '.') continue;
                        const uint64_t child = hash ^ number[from] ^ number[over] ^ number[to];
                        Board next = board;
                        next[from] = next[over] = '.';
                        next[to] = 'o';
                        if ((int)buckets.size() <= at + 1) buckets.resize(at + 2);
                        buckets[at + 1].push_back({std::move(next), child});
                        top = std::max(top, at + 1);
                        met++;
                    }
            }
    }
    std::printf("%d %zu %.3f\n", longest, met, used);
}
