#pragma once
// simdjson is C++: this hands its document to Swift as one flat array of plain nodes.
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum fanfare_json_type {
    fanfare_json_null,
    fanfare_json_false,
    fanfare_json_true,
    fanfare_json_integer,
    fanfare_json_unsigned,
    fanfare_json_double,
    fanfare_json_string,
    fanfare_json_array,
    fanfare_json_object,
};

/// One value; its children follow it, depth first. `number` holds the bits of an integer or double, `text` and
/// `length` a string. Texts belong to the parser of this thread and die at its next parse.
struct fanfare_json_node {
    const uint8_t *key;
    const uint8_t *text;
    uint64_t number;
    uint32_t key_length;
    uint32_t length;
    uint32_t children;
    uint8_t type;
};

enum fanfare_json_result {
    fanfare_json_parsed,
    fanfare_json_refused,
    fanfare_json_too_deep,
    fanfare_json_no_memory,
    fanfare_json_too_many_members,
    fanfare_json_too_many_values,
};

/// What a document may hold; it is counted while nodes are made, and nothing is made beyond it.
struct fanfare_json_limits {
    uint32_t depth;
    /// Of one object.
    uint32_t members;
    /// Of the whole document: objects and arrays count as well.
    uint32_t values;
};

/// Parses one document with this thread's parser. `nodes` stay valid until the thread's next call. After
/// `fanfare_json_too_many_members` `pointer` is the JSON pointer of the object, cut off where it is long; it ends with NUL and
/// stays valid as `nodes` do.
int fanfare_json_parse(const uint8_t *bytes, size_t count, struct fanfare_json_limits limits,
                       const struct fanfare_json_node **nodes, const char **pointer);

#ifdef __cplusplus
}
#endif
