#include "CSimdJSON.h"

#include <simdjson.h>

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace {

using simdjson::dom::element_type;
using Node = fanfare_json_node;

/// More than this is given back after each document, so that one large request does not stay in memory for ever.
constexpr size_t kept_bytes = 4 << 20;
/// Bytes of a pointer that is told.
constexpr size_t longest_pointer = 256;

struct Reader {
    simdjson::dom::parser parser;
    std::unique_ptr<uint8_t[]> padded;
    size_t capacity = 0;
    std::vector<Node> nodes;
    fanfare_json_limits limits{};
    /// Of the value that is too much; steps are put before it on the way out.
    std::string pointer;

    void step(std::string_view key) {
        std::string escaped = "/";
        for (char letter : key.substr(0, longest_pointer)) {
            if (letter == '~') escaped += "~0";
            else if (letter == '/') escaped += "~1";
            else if (letter == 0) escaped += "\xEF\xBF\xBD";
            else escaped += letter;
        }
        pointer.insert(0, escaped);
    }

    /// simdjson reads past the end of what it is given.
    const uint8_t *pad(const uint8_t *bytes, size_t count) {
        if (!padded || capacity < count) {
            padded.reset();
            capacity = 0;
            size_t wanted = count < 4096 ? 4096 : count;
            padded.reset(new uint8_t[wanted + simdjson::SIMDJSON_PADDING]);
            capacity = wanted;
        }
        if (count > 0) std::memcpy(padded.get(), bytes, count);
        std::memset(padded.get() + count, 0, simdjson::SIMDJSON_PADDING);
        return padded.get();
    }

    fanfare_json_result add(simdjson::dom::element value, std::string_view key, uint32_t depth_left) {
        size_t index = nodes.size();
        if (index >= limits.values) return fanfare_json_too_many_values;
        Node node{};
        node.key = reinterpret_cast<const uint8_t *>(key.data());
        node.key_length = static_cast<uint32_t>(key.size());
        switch (value.type()) {
        case element_type::NULL_VALUE: node.type = fanfare_json_null; break;
        case element_type::BOOL: node.type = value.get_bool().value_unsafe() ? fanfare_json_true : fanfare_json_false; break;
        case element_type::INT64:
            node.type = fanfare_json_integer;
            node.number = static_cast<uint64_t>(value.get_int64().value_unsafe());
            break;
        case element_type::UINT64:
            node.type = fanfare_json_unsigned;
            node.number = value.get_uint64().value_unsafe();
            break;
        case element_type::DOUBLE: {
            double number = value.get_double().value_unsafe();
            node.type = fanfare_json_double;
            std::memcpy(&node.number, &number, sizeof number);
            break;
        }
        case element_type::STRING: {
            std::string_view text = value.get_string().value_unsafe();
            node.type = fanfare_json_string;
            node.text = reinterpret_cast<const uint8_t *>(text.data());
            node.length = static_cast<uint32_t>(text.size());
            break;
        }
        case element_type::ARRAY: {
            if (depth_left == 0) return fanfare_json_too_deep;
            node.type = fanfare_json_array;
            nodes.push_back(node);
            uint32_t children = 0;
            // A name of its own: a loop keeps only the reference that value_unsafe() gives, into a result that is gone.
            simdjson::dom::array items = value.get_array().value_unsafe();
            for (auto item : items) {
                fanfare_json_result result = add(item, {}, depth_left - 1);
                if (result == fanfare_json_too_many_members) step(std::to_string(children));
                if (result != fanfare_json_parsed) return result;
                children++;
            }
            nodes[index].children = children;
            return fanfare_json_parsed;
        }
        case element_type::OBJECT: {
            if (depth_left == 0) return fanfare_json_too_deep;
            node.type = fanfare_json_object;
            nodes.push_back(node);
            uint32_t children = 0;
            simdjson::dom::object members = value.get_object().value_unsafe();
            for (auto member : members) {
                if (children >= limits.members) return fanfare_json_too_many_members;
                fanfare_json_result result = add(member.value, member.key, depth_left - 1);
                if (result == fanfare_json_too_many_members) step(member.key);
                if (result != fanfare_json_parsed) return result;
                children++;
            }
            nodes[index].children = children;
            return fanfare_json_parsed;
        }
        }
        nodes.push_back(node);
        return fanfare_json_parsed;
    }
};

/// One for each thread: simdjson's parser owns the texts of its last document.
Reader &reader(bool fresh) {
    thread_local std::unique_ptr<Reader> kept;
    if (fresh || !kept) {
        kept.reset();
        kept.reset(new Reader);
    }
    return *kept;
}

thread_local bool oversized = false;

} // namespace

extern "C" int fanfare_json_parse(const uint8_t *bytes, size_t count, struct fanfare_json_limits limits,
                                  const struct fanfare_json_node **nodes, const char **pointer) {
    try {
        Reader &mine = reader(oversized);
        oversized = count > kept_bytes;
        simdjson::dom::element root;
        switch (mine.parser.parse(mine.pad(bytes, count), count, false).get(root)) {
        case simdjson::SUCCESS: break;
        case simdjson::DEPTH_ERROR: return fanfare_json_too_deep;
        case simdjson::MEMALLOC: return fanfare_json_no_memory;
        default: return fanfare_json_refused;
        }
        mine.nodes.clear();
        mine.limits = limits;
        mine.pointer.clear();
        fanfare_json_result result = mine.add(root, {}, limits.depth);
        if (mine.pointer.size() > longest_pointer) mine.pointer.resize(longest_pointer);
        *pointer = mine.pointer.c_str();
        *nodes = mine.nodes.data();
        return result;
    } catch (const std::bad_alloc &) {
        return fanfare_json_no_memory;
    } catch (...) {
        return fanfare_json_refused;
    }
}
