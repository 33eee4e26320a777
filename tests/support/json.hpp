// A strict JSON reader for tests of the files that the library writes: throws at the first character that the format does not allow.
#pragma once

#include <cctype>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace support {

struct json {
    enum class kind { nothing, boolean, number, text, list, object } what = kind::nothing;
    double number = 0;
    std::string text;
    std::vector<json> list;
    std::map<std::string, json> members;

    bool is_number() const { return what == kind::number; }
    int integer() const {
        if (!is_number()) throw std::runtime_error{"not a number"};
        return static_cast<int>(number);
    }
    const json& operator[](const std::string& name) const {
        static const json none;
        const auto found = members.find(name);
        return found == members.end() ? none : found->second;
    }
    static json read(std::string_view text) {
        std::size_t at = 0;
        const json value = read_value(text, at);
        blanks(text, at);
        if (at != text.size()) throw std::runtime_error{"text behind the value"};
        return value;
    }

private:
    static void blanks(std::string_view t, std::size_t& at) {
        while (at < t.size() && (t[at] == ' ' || t[at] == '\n' || t[at] == '\t' || t[at] == '\r')) ++at;
    }
    static void expect(std::string_view t, std::size_t& at, char c) {
        blanks(t, at);
        if (at >= t.size() || t[at] != c) throw std::runtime_error{"expected " + std::string(1, c) + " at " + std::to_string(at)};
        ++at;
    }
    static bool next(std::string_view t, std::size_t& at, char c) {
        blanks(t, at);
        if (at >= t.size() || t[at] != c) return false;
        ++at;
        return true;
    }
    static std::string read_text(std::string_view t, std::size_t& at) {
        expect(t, at, '"');
        std::string out;
        for (; at < t.size() && t[at] != '"'; ++at) {
            if (static_cast<unsigned char>(t[at]) < 0x20) throw std::runtime_error{"a control character in a string"};
            if (t[at] != '\\') {
                out += t[at];
                continue;
            }
            if (++at >= t.size()) break;
            if (t[at] == 'u') {
                if (at + 4 >= t.size()) throw std::runtime_error{"a short escape"};
                out += static_cast<char>(std::strtol(std::string(t.substr(at + 1, 4)).c_str(), nullptr, 16));
                at += 4;
            } else if (std::string_view{"\"\\/bfnrt"}.find(t[at]) != std::string_view::npos) {
                out += t[at] == 'n' ? '\n' : t[at] == 't' ? '\t' : t[at];
            } else {
                throw std::runtime_error{"an unknown escape"};
            }
        }
        expect(t, at, '"');
        return out;
    }
    static json read_value(std::string_view t, std::size_t& at) {
        json v;
        blanks(t, at);
        if (at >= t.size()) throw std::runtime_error{"no value"};
        if (t[at] == '"') {
            v.what = kind::text;
            v.text = read_text(t, at);
        } else if (next(t, at, '[')) {
            v.what = kind::list;
            if (next(t, at, ']')) return v;
            do v.list.push_back(read_value(t, at));
            while (next(t, at, ','));
            expect(t, at, ']');
        } else if (next(t, at, '{')) {
            v.what = kind::object;
            if (next(t, at, '}')) return v;
            do {
                blanks(t, at);
                std::string name = read_text(t, at);
                expect(t, at, ':');
                if (!v.members.emplace(std::move(name), read_value(t, at)).second) throw std::runtime_error{"a member twice"};
            } while (next(t, at, ','));
            expect(t, at, '}');
        } else if (t.substr(at, 4) == "true" || t.substr(at, 5) == "false") {
            v.what = kind::boolean;
            at += t[at] == 't' ? 4 : 5;
        } else if (t.substr(at, 4) == "null") {
            at += 4;
        } else {
            const std::size_t from = at;
            if (t[at] == '-') ++at;
            const std::size_t digits = at;
            while (at < t.size() && std::isdigit(static_cast<unsigned char>(t[at]))) ++at;
            if (at == digits || (t[digits] == '0' && at > digits + 1)) throw std::runtime_error{"not a value at " + std::to_string(from)};
            if (at < t.size() && t[at] == '.') {
                const std::size_t decimals = ++at;
                while (at < t.size() && std::isdigit(static_cast<unsigned char>(t[at]))) ++at;
                if (at == decimals) throw std::runtime_error{"no digit behind the point"};
            }
            v.what = kind::number;
            v.number = std::strtod(std::string(t.substr(from, at - from)).c_str(), nullptr);
        }
        return v;
    }
};

}  // namespace support
