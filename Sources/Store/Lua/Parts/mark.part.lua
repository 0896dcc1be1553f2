-- The second half of an entry's id, from the message that it carries: after Redis has lost its last writes a place in
-- a stream is given out again, and what removes the former job of that place must not find the new one.
local function mark(id) return string.format('-%.0f', (struct.unpack('>I4', id, 13))) end
