-- Sets: `applySets(plan, key, at)` for many, `change(bucket, own, name, add, remove)` for one. Numbers within the
-- block of two bytes, ascending; words of a bitmap have those to add once more. Lua looks through the whole of each
-- text that it makes, so that long ones are left in Redis. The entry in the bucket holds up to 32 numbers itself, or
-- says what the set's own key holds: `s` an ascending list of numbers, `b` a bitmap, as long as its highest number
-- asks for in steps of 512 bytes. A bitmap comes where it is shorter than a list, and at 2,048 numbers; a set that
-- shrinks changes back later than it changed when it grew, so that none changes to and fro.
local RARE, RARE_AGAIN, APPENDED, LISTED, LISTED_AGAIN = 32, 16, 256, 2048, 1024
-- Redis would write a number of Lua as a fraction, which takes longer than the command.
local TAIL = '-256'
local STEP = BITMAP_STEP

local function number(list, i)
  local high, low = string.byte(list, i, i + 1)
  return high * 256 + low
end
-- Where an ascending list has a number, or would have it.
local function place(list, wanted)
  local low, high = 0, #list / 2
  while low < high do
    local middle = math.floor((low + high) / 2)
    if number(list, middle * 2 + 1) < wanted then low = middle + 1 else high = middle end
  end
  return low * 2 + 1
end
local function holds(list, wanted)
  local at = place(list, wanted)
  return at < #list and number(list, at) == wanted
end
local function merged(list, add)
  if list == '' then return add end
  if add == '' then return list end
  if number(list, #list - 1) < number(add, 1) then return list .. add end
  for i = 1, #add, 2 do
    local at = place(list, number(add, i))
    local item = string.sub(add, i, i + 1)
    if string.sub(list, at, at + 1) ~= item then
      list = string.sub(list, 1, at - 1) .. item .. string.sub(list, at)
    end
  end
  return list
end

local function bitmapLength(list)
  return math.floor(number(list, #list - 1) / (STEP * 8) + 1) * STEP
end
local function toBitmap(list)
  local words, parts = {}, {}
  for i = 1, #list, 2 do
    local high, low = string.byte(list, i, i + 1)
    local n = high * 256 + low
    local rest = n % 32
    local w = (n - rest) / 32
    words[w] = (words[w] or 0) + 2 ^ (31 - rest)
  end
  local zero = string.rep('\0', 4)
  for w = 0, bitmapLength(list) / 4 - 1 do parts[w + 1] = words[w] and struct.pack('>I4', words[w]) or zero end
  return table.concat(parts)
end
local function toList(bitmap)
  local out, at = {}, 1
  while true do
    at = string.find(bitmap, '[^%z]', at)
    if not at then return table.concat(out) end
    local byte = string.byte(bitmap, at)
    for i = 0, 7 do
      local bit = 2 ^ (7 - i)
      if byte >= bit then
        byte = byte - bit
        local n = at * 8 - 8 + i
        local low = n % 256
        out[#out + 1] = string.char((n - low) / 256, low)
      end
    end
    at = at + 1
  end
end

-- Makes room for a byte; Redis itself would give a string that grows twice its room.
local function grow(own, held, byte)
  local length = (math.floor(byte / STEP) + 1) * STEP
  redis.call('SET', own, held .. string.rep('\0', length - #held))
end
local function setBits(own, list, value)
  local byte = math.floor(number(list, #list - 1) / 8)
  if redis.call('STRLEN', own) <= byte then grow(own, redis.call('GET', own), byte) end
  for i = 1, #list, 2 do redis.call('SETBIT', own, string.format('%d', number(list, i)), value) end
end
-- Neighbours at once; bits behind its end are not set.
local function clearBits(own, list)
  local first, last = math.floor(number(list, 1) / 8), math.floor(number(list, #list - 1) / 8)
  if #list < 16 or last - first >= #list * 2 then return setBits(own, list, '0') end
  local bytes = {string.byte(redis.call('GETRANGE', own, first, last), 1, -1)}
  if #bytes == 0 then return end
  for i = 1, #list, 2 do
    local n = number(list, i)
    local low = n % 8
    local byte = (n - low) / 8 - first + 1
    if bytes[byte] then bytes[byte] = bit.band(bytes[byte], 255 - 2 ^ (7 - low)) end
  end
  redis.call('SETRANGE', own, first, string.char(unpack(bytes)))
end
-- Neighbours at once: the number of the first word of 32 bits, in two bytes, and words.
local function setWords(own, words)
  local first, size = number(words, 1) * 4, #words - 2
  local old = redis.call('GETRANGE', own, first, first + size - 1)
  if #old < size then
    grow(own, redis.call('GET', own), first + size - 1)
    old = old .. string.rep('\0', size - #old)
  end
  local parts = {}
  for i = 1, size, 4 do
    local word = bit.bor(struct.unpack('>I4', old, i), (struct.unpack('>I4', words, i + 2)))
    parts[#parts + 1] = struct.pack('>I4', word % 4294967296)
  end
  redis.call('SETRANGE', own, first, table.concat(parts))
end
-- Where a list that is kept apart would hold `add` behind all others, it is not read; Redis gives it more room than it needs:
-- where that is little.
local function appended(own, tail, add)
  if #tail < APPENDED or number(tail, APPENDED - 1) >= number(add, 1) then return false end
  local length = redis.call('APPEND', own, add)
  if length <= LISTED * 2 and length < bitmapLength(add) then return 's' end
  redis.call('SET', own, toBitmap(redis.call('GET', own)))
  return 'b'
end

-- These answer what the bucket says from now on of a set of which it said `form`; '': nobody is in it.
local function stored(own, form, list)
  local count = #list / 2
  local apart = form == 's' or form == 'b'
  if not apart and count <= RARE then return list end
  if count > LISTED or (count > RARE and form ~= 'b' and #list >= bitmapLength(list)) then
    redis.call('SET', own, toBitmap(list))
    return 'b'
  elseif count > RARE or (apart and count >= RARE_AGAIN) then
    redis.call('SET', own, list)
    return 's'
  end
  if apart then redis.call('DEL', own) end
  return list
end
local function changed(own, form, add, remove, words)
  -- Most sets are small, and grow.
  if remove == '' and form ~= 'b' and form ~= 's' then return stored(own, form, merged(form, add)) end
  if form == 'b' then
    if words ~= '' then
      setWords(own, words)
    elseif add ~= '' then
      setBits(own, add, '1')
    end
    if remove == '' then return form end
    clearBits(own, remove)
    local count = redis.call('BITCOUNT', own)
    if count >= LISTED_AGAIN or count * 4 >= redis.call('STRLEN', own) then return form end
    return stored(own, form, toList(redis.call('GET', own)))
  end
  local list = form
  if form == 's' and remove == '' then
    list = redis.call('GETRANGE', own, TAIL, '-1')
    local as = appended(own, list, add)
    if as then return as end
    if #list == APPENDED then list = redis.call('GET', own) end
  elseif form == 's' then
    list = redis.call('GET', own)
  end
  for i = 1, #remove, 2 do
    local wanted = number(remove, i)
    if holds(list, wanted) then
      local at = place(list, wanted)
      list = string.sub(list, 1, at - 1) .. string.sub(list, at + 2)
    end
  end
  return stored(own, form, merged(list, add))
end

local function change(bucket, own, name, add, remove)
  local form = redis.call('HGET', bucket, name) or ''
  local new = changed(own, form, add, remove, '')
  if new == '' then redis.call('HDEL', bucket, name) elseif new ~= form then redis.call('HSET', bucket, name, new) end
end

-- Sets from KEYS[key] and ARGV[at], a letter of `plan` for each: g, it only grows: name, numbers to add; f, as well, and nobody is
-- believed to be in it; w: name, numbers to add, words of a bitmap with them; c: name, numbers to add, to remove. A capital
-- letter begins another bucket, whose key comes before the set's own; what its sets hold is read and written at once.
local CHANGES, FRESH, WORDS, SMALL = 67, 70, 87, 97
local function applySets(plan, key, at)
  local call, kinds, letter = redis.call, {string.byte(plan, 1, -1)}, 1
  -- Used again for each bucket: tables are dear.
  local names, written, gone = {}, {}, {}
  while letter <= #kinds do
    local kind, after, bucket = kinds[letter], kinds[letter + 1], KEYS[key]
    if not after or after < SMALL then
      local own, name, add = KEYS[key + 1], ARGV[at], ARGV[at + 1]
      letter, key, at = letter + 1, key + 2, at + 2
      if kind ~= FRESH or call('HSETNX', bucket, name, add) == 0 then
        local form, remove, words = call('HGET', bucket, name) or '', '', ''
        if kind == WORDS then
          words, at = ARGV[at], at + 1
        elseif kind == CHANGES then
          remove, at = ARGV[at], at + 1
        end
        local now = changed(own, form, add, remove, words)
        if now == '' then call('HDEL', bucket, name) elseif now ~= form then call('HSET', bucket, name, now) end
      end
    else
      local first, from, count, new, left = letter, at, 0, 0, 0
      repeat
        count = count + 1
        names[count] = ARGV[at]
        if kind >= SMALL then kind = kind - 32 end
        at = at + ((kind == WORDS or kind == CHANGES) and 3 or 2)
        letter = letter + 1
        kind = kinds[letter]
      until not kind or kind < SMALL
      local forms = call('HMGET', bucket, unpack(names, 1, count))
      for i = 1, count do
        kind = kinds[first + i - 1]
        if kind >= SMALL then kind = kind - 32 end
        local form, remove, words = forms[i] or '', '', ''
        if kind == WORDS then words = ARGV[from + 2] elseif kind == CHANGES then remove = ARGV[from + 2] end
        local now = changed(KEYS[key + i], form, ARGV[from + 1], remove, words)
        if now == '' then
          left = left + 1
          gone[left] = names[i]
        elseif now ~= form then
          written[new + 1], written[new + 2] = names[i], now
          new = new + 2
        end
        from = from + ((kind == WORDS or kind == CHANGES) and 3 or 2)
      end
      key = key + 1 + count
      if new > 0 then call('HSET', bucket, unpack(written, 1, new)) end
      if left > 0 then call('HDEL', bucket, unpack(gone, 1, left)) end
    end
  end
end
