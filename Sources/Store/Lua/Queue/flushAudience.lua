#!lua flags=allow-oom
-- Outcomes of members of audiences in one partition (design D9): stretches of codes are read, changed and written
-- back; counters move only for codes that turn, and a code that is final never does. A repeated run changes nothing
-- and answers the same.
-- KEYS lease, finished, retry, ready, segments, ends, then per message: work, deliveries, slices, snapshot, codes,
-- kept, then a stream per job. ARGV owner, number, chunk, retention, pruned, messages, then per message: raw id, hour,
-- time of the first attempt or '', groups, records, retries, slices; (code, counter or '', first of the job, 1 if some
-- of them have a record, stretches, (first byte, codes)…)…, (index, head, attempts)…, (index, head, attempts, due)…,
-- (slice, the provider's id)…; then jobs, and per job: place of its message, entry, name of the stream, first of the
-- job; last what counts towards caps, whose keys come behind; then tallies.
-- → pruned, raw ids and controls, fields and values of `finished` to be told.
-- use owner, clock, keepInPlace, flush, caps, tally
local finished, retry, segs, ends = KEYS[2], KEYS[3], KEYS[5], KEYS[6]
local messages = tonumber(ARGV[6])
local at, key = 7, 7
local controls, told = {}, {}
for place = 1, messages do
  local w, d, s, codes = KEYS[key], KEYS[key + 1], KEYS[key + 2], KEYS[key + 4]
  local id, hour, firstAt = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local groups, records = tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
  local retries, slices = tonumber(ARGV[at + 5]), tonumber(ARGV[at + 6])
  at = at + 7
  local flag = redis.call('HMGET', w, 'c', 'x')
  if flag[1] then
    controls[#controls + 1] = id
    controls[#controls + 1] = flag[1]
  end
  if fresh and flag[2] and tonumber(flag[2]) > 0 and groups > 0 then
    local old, moves = {}, {}
    local ended, retrying, held, gone, stale, turned = 0, 0, 0, {}, {}, {}
    for i = 1, groups do
      local code, counter, job = tonumber(ARGV[at]), ARGV[at + 1], ARGV[at + 2]
      local tracks, windows, fresher, back = ARGV[at + 3] == '1', tonumber(ARGV[at + 4]), 0, 0
      -- What the half of a byte becomes.
      local function turn(was, index)
        if was ~= 0 and was ~= 8 then return was end
        if was == 0 then fresher = fresher + 1 elseif code ~= 8 then back = back + 1 end
        if tracks or was == 8 then
          local name = string.format('%.0f', index)
          if tracks then
            old[name] = true
            if code ~= 8 then
              turned[name] = true
              if won then won[place .. ' ' .. name] = true end
            end
          end
          if was == 8 and code ~= 8 then
            gone[#gone + 1] = member(id, index)
            stale[#stale + 1] = name
          end
        end
        return code
      end
      for j = 1, windows do
        local start = tonumber(ARGV[at + 3 + j * 2])
        local wanted = {string.byte(ARGV[at + 4 + j * 2], 1, -1)}
        local bytes = {string.byte(redis.call('GETRANGE', codes, start, start + #wanted - 1), 1, -1)}
        for k = 1, #wanted do
          local want, byte = wanted[k], bytes[k] or 0
          if want == 0 then
            bytes[k] = byte
          elseif byte == 0 and not tracks then
            bytes[k] = want
            if want > 15 and want % 16 > 0 then fresher = fresher + 2 else fresher = fresher + 1 end
          else
            local low = byte % 16
            local high = (byte - low) / 16
            if want > 15 then high = turn(high, (start + k - 1) * 2) end
            if want % 16 > 0 then low = turn(low, (start + k - 1) * 2 + 1) end
            bytes[k] = high * 16 + low
          end
        end
        redis.call('SETRANGE', codes, start, string.char(unpack(bytes)))
      end
      at = at + 5 + windows * 2
      if code == 8 then
        retrying = retrying + fresher
      elseif fresher + back > 0 then
        ended = ended + fresher + back
        retrying = retrying - back
        moves[counter] = (moves[counter] or 0) + fresher + back
        tally(counter, fresher + back)
      end
      if fresher > 0 then moves['j' .. job] = (moves['j' .. job] or 0) - fresher end
    end
    if #gone > 0 then redis.call('ZREM', retry, unpack(gone)) end
    -- What was kept of a retry goes on in its record, or with it.
    local known = {}
    if #stale + retries > 0 then
      local wanted = {}
      for i = 1, #stale do wanted[i] = stale[i] end
      for i = 1, retries do wanted[#wanted + 1] = ARGV[at + records * 3 + (i - 1) * 4] end
      local found = redis.call('HMGET', d, unpack(wanted))
      for i = 1, #wanted do known[wanted[i]] = found[i] end
    end
    local written, kept = {}, {}
    for i = 1, records do
      local index = ARGV[at]
      if turned[index] and not kept[index] then
        kept[index] = true
        written[#written + 1] = index
        written[#written + 1] = ARGV[at + 1] .. tried(known[index], ARGV[at + 2])
      end
      at = at + 3
    end
    for _, index in ipairs(stale) do
      if known[index] and earlier(known[index]) == '' then held = held - 1 end
      if not kept[index] then redis.call('HDEL', d, index) end
    end
    for i = 1, retries do
      local index = ARGV[at]
      if old[index] and not kept[index] and not turned[index] then
        kept[index] = true
        local before = earlier(known[index])
        if before == '' then
          if known[index] then held = held - 1 end
          if ARGV[at + 2] == '' then held = held + 1 end
        end
        written[#written + 1] = index
        written[#written + 1] = ARGV[at + 1] .. tried(known[index], ARGV[at + 2])
        redis.call('ZADD', retry, ARGV[at + 3], member(id, index))
      end
      at = at + 4
    end
    if #written > 0 then redis.call('HSET', d, unpack(written)) end
    for i = 1, slices do
      redis.call('HSET', s, 'i' .. ARGV[at], ARGV[at + 1])
      at = at + 2
    end
    for name, count in pairs(moves) do redis.call('HINCRBY', w, name, count) end
    if retrying ~= 0 then redis.call('HINCRBY', w, 'r', retrying) end
    if held ~= 0 then redis.call('HINCRBY', w, 'h', held) end
    if firstAt ~= '' then redis.call('HSETNX', w, 'fa', firstAt) end
    if ended > 0 then
      redis.call('HSET', w, 'lo', now())
      if redis.call('HINCRBY', w, 'x', -ended) == 0 then
        redis.call('ZREM', ends, id)
        told[#told + 1] = id
        told[#told + 1] = keepInPlace(id, {w, KEYS[key + 3], codes, d, s}, segs, KEYS[key + 5], finished, hour,
          ARGV[4])
      end
    end
  else
    for i = 1, groups do at = at + 5 + tonumber(ARGV[at + 4]) * 2 end
    at = at + records * 3 + retries * 4 + slices * 2
  end
  key = key + 6
end

if fresh then
  local jobs = tonumber(ARGV[at])
  at = at + 1
  for j = 1, jobs do
    local left = redis.call('HMGET', KEYS[7 + (tonumber(ARGV[at]) - 1) * 6], 'x', 'j' .. ARGV[at + 3])
    if not left[1] or left[1] == '0' or left[2] == '0' then
      redis.call('XDEL', KEYS[key], ARGV[at + 1])
      if redis.call('XLEN', KEYS[key]) == 0 then
        redis.call('DEL', KEYS[key])
        redis.call('SREM', KEYS[4], ARGV[at + 2])
      end
    end
    at = at + 4
    key = key + 1
  end
  if won then countCaps(key) end
  if number > 0 then redis.call('HSET', KEYS[1], 'f', number, 'c', chunk, 'p', pruned) end
end
settleTallies()
return {pruned, controls, told}
