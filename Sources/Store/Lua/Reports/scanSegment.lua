#!lua flags=no-writes
-- Finished parts whose packed list holds a text.
-- KEYS segment
-- ARGV cursor, count, text
-- → next cursor, raw ids…. Inline messages have no mark before their id: KEYS inline messages · ARGV cursor, count,
-- text, 1
local page = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
local found = {page[1]}
for i = 1, #page[2], 2 do
  local mark = ARGV[4] and 0 or string.byte(page[2][i])
  if (mark == 0 or mark == 97 or mark == 115 or mark == 119)
    and string.find(page[2][i + 1], ARGV[3], 1, true) then
    found[#found + 1] = string.sub(page[2][i], mark == 0 and 1 or 2)
  end
end
return found
