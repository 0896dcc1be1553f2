import RedisClient

extension Fragment {
  /// Sets of one block: `change(bucket, own, name, add, remove, words)` with numbers of two bytes, ascending; `words`, if given,
  /// has those to add once more as words of a bitmap. Lua looks through the whole of each text that it makes, so that long ones
  /// are left in Redis. The entry in the bucket
  /// holds up to 32 numbers itself, or says what the set's own key holds: `s` an ascending list of numbers, `b` a bitmap, as long
  /// as its highest number asks for in steps of 512 bytes. A bitmap comes where it is shorter than a list, and at 2,048 numbers;
  /// a set that shrinks changes back later than it changed when it grew, so that none changes to and fro.
  static let sets = """
    local RARE, RARE_AGAIN, APPENDED, LISTED, LISTED_AGAIN = 32, 16, 256, 2048, 1024
    local STEP = \(SetBlock.bitmapStep)

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
      local zero = string.rep('\\0', 4)
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
      redis.call('SET', own, held .. string.rep('\\0', length - #held))
    end
    local function setBits(own, list, value)
      local byte = math.floor(number(list, #list - 1) / 8)
      if redis.call('STRLEN', own) <= byte then grow(own, redis.call('GET', own), byte) end
      -- Redis would write a number of Lua as a fraction, which takes longer than the command.
      for i = 1, #list, 2 do redis.call('SETBIT', own, string.format('%d', number(list, i)), value) end
    end
    -- Neighbours at once: the number of the first word of 32 bits, in two bytes, and words.
    local function setWords(own, words)
      local first, size = number(words, 1) * 4, #words - 2
      local old = redis.call('GETRANGE', own, first, first + size - 1)
      if #old < size then
        grow(own, redis.call('GET', own), first + size - 1)
        old = old .. string.rep('\\0', size - #old)
      end
      local parts = {}
      for i = 1, size, 4 do
        local word = bit.bor(struct.unpack('>I4', old, i), (struct.unpack('>I4', words, i + 2)))
        parts[#parts + 1] = struct.pack('>I4', word % 4294967296)
      end
      redis.call('SETRANGE', own, first, table.concat(parts))
    end
    -- A long list is not read for what goes behind it. Redis gives it more room than it needs: where that is little.
    local function appended(own, add)
      local length = redis.call('STRLEN', own)
      if length < APPENDED or length + #add > LISTED * 2 then return false end
      local last = redis.call('GETRANGE', own, length - 2, length - 1)
      if number(last, 1) >= number(add, 1) or length + #add >= bitmapLength(add) then return false end
      redis.call('APPEND', own, add)
      return true
    end

    local function store(bucket, own, name, form, list)
      local count = #list / 2
      local apart = form == 's' or form == 'b'
      if count > LISTED or (count > RARE and form ~= 'b' and #list >= bitmapLength(list)) then
        redis.call('SET', own, toBitmap(list))
        if form ~= 'b' then redis.call('HSET', bucket, name, 'b') end
      elseif count > RARE or (apart and count >= RARE_AGAIN) then
        redis.call('SET', own, list)
        if form ~= 's' then redis.call('HSET', bucket, name, 's') end
      else
        if apart then redis.call('DEL', own) end
        if count == 0 then redis.call('HDEL', bucket, name) else redis.call('HSET', bucket, name, list) end
      end
    end

    local function change(bucket, own, name, add, remove, words)
      local form = redis.call('HGET', bucket, name)
      if form == 's' and remove == '' and appended(own, add) then return end
      if form == 'b' then
        if words and words ~= '' then
          setWords(own, words)
        elseif add ~= '' then
          setBits(own, add, '1')
        end
        if #remove > 0 then
          setBits(own, remove, '0')
          local count = redis.call('BITCOUNT', own)
          if count < LISTED_AGAIN and count * 4 < redis.call('STRLEN', own) then
            store(bucket, own, name, form, toList(redis.call('GET', own)))
          end
        end
        return
      end
      local list = form == 's' and redis.call('GET', own) or form or ''
      for i = 1, #remove, 2 do
        local wanted = number(remove, i)
        if holds(list, wanted) then
          local at = place(list, wanted)
          list = string.sub(list, 1, at - 1) .. string.sub(list, at + 2)
        end
      end
      store(bucket, own, name, form, merged(list, add))
    end

    -- Sets from KEYS[key] and ARGV[at]: some that nobody is believed to be in, with name and numbers to add; some that only grow,
    -- with name, numbers to add, words of a bitmap with them or ''; others, with name, numbers to add, to remove.
    local function applySets(key, at, fresh, growing)
      for i = 1, fresh do
        if redis.call('HSETNX', KEYS[key], ARGV[at], ARGV[at + 1]) == 0 then
          change(KEYS[key], KEYS[key + 1], ARGV[at], ARGV[at + 1], '')
        end
        at, key = at + 2, key + 2
      end
      for i = 1, growing do
        change(KEYS[key], KEYS[key + 1], ARGV[at], ARGV[at + 1], '', ARGV[at + 2])
        at, key = at + 3, key + 2
      end
      while at < #ARGV do
        change(KEYS[key], KEYS[key + 1], ARGV[at], ARGV[at + 1], ARGV[at + 2])
        at, key = at + 3, key + 2
      end
    end

    """
}

extension Scripts {
  /// What sets hold of a block. KEYS per set: bucket, own key · ARGV names → per set a list of numbers, or an array of a bitmap
  static let readSets = RedisScript(
    "readSets",
    """
    #!lua flags=no-writes
    local out = {}
    for i = 1, #KEYS, 2 do
      local held = redis.call('HGET', KEYS[i], ARGV[(i + 1) / 2])
      if held == 's' then held = redis.call('GET', KEYS[i + 1]) end
      if held == 'b' then held = {redis.call('GET', KEYS[i + 1])} end
      out[#out + 1] = held or ''
    end
    return out
    """)

  /// Names of sets that begin with ARGV[1]. KEYS buckets
  static let scanNames = RedisScript(
    "scanNames",
    """
    #!lua flags=no-writes
    local out, length, first = {}, #ARGV[1], string.byte(ARGV[1])
    for i = 1, #KEYS do
      for _, name in ipairs(redis.call('HKEYS', KEYS[i])) do
        -- By its first letter most are told apart, and nothing is made for that.
        if string.byte(name) == first and string.sub(name, 1, length) == ARGV[1] then out[#out + 1] = name end
      end
    end
    return out
    """)
}
