// The part of testlib (https://github.com/MikeMirzayanov/testlib) that small checkers need, written for Jurado under
// the same names and with the same exit codes. If you need more, put testlib's own testlib.h in the place of this
// file: your checker stays as it is. SPDX-License-Identifier: Apache-2.0

#ifndef SMALL_TESTLIB_H
#define SMALL_TESTLIB_H

#include <cerrno>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

enum TResult { _ok = 0, _wa = 1, _pe = 2, _fail = 3, _dirt = 4, _points = 7, _unexpected_eof = 8 };

// Print a verdict with a message for judges, and end.
[[noreturn]] inline void quit(TResult result, const std::string& message) {
    const char* verdict = result == _ok               ? "ok"
                          : result == _wa             ? "wrong answer"
                          : result == _pe             ? "wrong output format"
                          : result == _dirt           ? "wrong output format"
                          : result == _points         ? "points"
                          : result == _unexpected_eof ? "unexpected eof"
                                                      : "FAIL";
    std::fprintf(stderr, "%s %s\n", verdict, message.c_str());
    std::exit(result);
}

inline std::string vformat(const char* pattern, va_list arguments) {
    char text[4096];
    std::vsnprintf(text, sizeof text, pattern, arguments);
    return text;
}

__attribute__((format(printf, 1, 2))) inline std::string format(const char* pattern, ...) {
    va_list arguments;
    va_start(arguments, pattern);
    std::string text = vformat(pattern, arguments);
    va_end(arguments);
    return text;
}

// One of the three files. What is wrong with the contestant's is a verdict; what is wrong with the others a failure.
class InStream {
public:
    void open(const char* path, const char* name, bool contestant) {
        std::ifstream file(path, std::ios::binary);
        if (!file) ::quit(_fail, format("%s cannot be read", name));
        text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
        name_ = name;
        contestant_ = contestant;
    }

    [[noreturn]] void quit(TResult result, const std::string& message) {
        if (contestant_) ::quit(result, message);
        ::quit(_fail, message + " (" + name_ + ")");
    }

    [[noreturn]] __attribute__((format(printf, 3, 4))) void quitf(TResult result, const char* pattern, ...) {
        va_list arguments;
        va_start(arguments, pattern);
        std::string message = vformat(pattern, arguments);
        va_end(arguments);
        quit(result, message);
    }

    // Skip white space; true where nothing follows.
    bool seekEof() {
        while (at < text.size() && std::string(" \t\r\n").find(text[at]) != std::string::npos) at++;
        return at == text.size();
    }

    std::string readToken() {
        if (seekEof()) quit(_unexpected_eof, "Unexpected end of file - token expected");
        size_t end = text.find_first_of(" \t\r\n", at);
        std::string token = text.substr(at, end - at);
        at += token.size();
        return token;
    }

    std::string readWord() { return readToken(); }

    long long readLong() {
        std::string token = readToken();
        size_t digits = token[0] == '-' ? 1 : 0;
        errno = 0;
        long long value = std::strtoll(token.c_str(), nullptr, 10);
        if (errno != 0 || token != std::to_string(value) || token.size() == digits)
            quit(_pe, "Expected integer, but \"" + token.substr(0, 64) + "\" found");
        return value;
    }

    long long readLong(long long least, long long most, const std::string& name = "") {
        long long value = readLong();
        if (value < least || value > most)
            quitf(_wa, "Integer %s equals to %lld, violates the range [%lld, %lld]", name.c_str(), value, least, most);
        return value;
    }

    int readInt() { return (int)readLong(-2147483648LL, 2147483647LL, "parameter"); }

    int readInt(int least, int most, const std::string& name = "") { return (int)readLong(least, most, name); }

    double readDouble() {
        std::string token = readToken();
        char* end = nullptr;
        double value = std::strtod(token.c_str(), &end);
        bool plain = token.find_first_not_of("+-.0123456789") == std::string::npos;
        if (!plain || *end != '\0' || !std::isfinite(value))
            quit(_pe, "Expected double, but \"" + token.substr(0, 64) + "\" found");
        return value;
    }

    double readDouble(double least, double most, const std::string& name = "") {
        double value = readDouble();
        if (value < least || value > most)
            quitf(_wa, "Double %s equals to %g, violates the range [%g, %g]", name.c_str(), value, least, most);
        return value;
    }

private:
    std::string text, name_;
    size_t at = 0;
    bool contestant_ = false;
};

inline InStream inf, ouf, ans;

// The order of the arguments is testlib's: the input, the contestant's answer, the expected one.
inline void registerTestlibCmd(int argc, char* argv[]) {
    if (argc < 4) quit(_fail, "Expected the arguments INPUT OUTPUT ANSWER");
    inf.open(argv[1], "input", false);
    ouf.open(argv[2], "output", true);
    ans.open(argv[3], "answer", false);
}

// Give a verdict; a right answer has nothing after what was read.
[[noreturn]] __attribute__((format(printf, 2, 3))) inline void quitf(TResult result, const char* pattern, ...) {
    va_list arguments;
    va_start(arguments, pattern);
    std::string message = vformat(pattern, arguments);
    va_end(arguments);
    if (result == _ok && !ouf.seekEof()) quit(_dirt, "Extra information in the output file");
    quit(result, message);
}

// Give points; what the number means stands in jurado.yaml.
[[noreturn]] __attribute__((format(printf, 2, 3))) inline void quitp(double points, const char* pattern, ...) {
    va_list arguments;
    va_start(arguments, pattern);
    std::string message = vformat(pattern, arguments);
    va_end(arguments);
    quit(_points, format("%.10f ", points) + message);
}

#endif
