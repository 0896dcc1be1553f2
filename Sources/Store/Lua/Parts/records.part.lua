-- A bucket of records: for each its place in the bucket × 2^28 + its length, four bytes, and itself. With that head it
-- is called its entry.
local function seek(held, number)
  local at, size, slot = 1, #held - 3, number % RECORDS_PER_BUCKET
  while at <= size do
    local head = struct.unpack('>I4', held, at)
    local length = head % 268435456
    if head - length == slot * 268435456 then return at, at + 3 + length end
    at = at + 4 + length
  end
end
-- Where records begin and end, by slot: for many of one bucket.
local function spots(held)
  local firsts, lasts, at, size = {}, {}, 1, #held - 3
  while at <= size do
    local head = struct.unpack('>I4', held, at)
    local length = head % 268435456
    local slot = (head - length) / 268435456
    if not firsts[slot] then firsts[slot], lasts[slot] = at, at + 3 + length end
    at = at + 4 + length
  end
  return firsts, lasts
end
local function entryOf(held, number)
  local first, last = seek(held, number)
  return first and string.sub(held, first, last) or ''
end
-- By place in the bucket; an empty one goes.
local function withEntries(held, entries)
  local out, from, at, size = {}, 1, 1, #held - 3
  while at <= size do
    local head = struct.unpack('>I4', held, at)
    local length = head % 268435456
    local behind = at + 4 + length
    if entries[(head - length) / 268435456] then
      out[#out + 1] = string.sub(held, from, at - 1)
      from = behind
    end
    at = behind
  end
  out[#out + 1] = string.sub(held, from)
  for slot = 0, RECORDS_PER_BUCKET - 1 do out[#out + 1] = entries[slot] end
  return table.concat(out)
end
