#!lua
-- Messages of one app and hour that go to one stream, all of them new but for those with an idempotency key. All are
-- stored, or none, but for those to tokens that may be registered. What may be damaged, a stream, is written before
-- what tells that they are here.
-- KEYS seq, ready, waiting, inline messages, listing, hours, keyed, ends of hours, stream, and for each token that is
-- asked for: alias bucket, index bucket of the token's own id
-- ARGV hour, listing's life, channel, partition, name of the stream, raw ids in a row, and as `acceptHere` takes them
-- of idempotency keys: life, end, raw ids in a row; for each token that is asked for, in a row: the place of its message
-- from 0, a byte, and the hashes in the two buckets, four bytes each; (raw id, inline message)…
-- → 1, or 0: a key may have ended, and nothing was done; or in a row the places of messages whose token may be
-- registered, a byte each: they are not stored
-- use mark, clock, keyed, listed, index
local listing, hours, life = KEYS[5], KEYS[6], tonumber(ARGV[2])
local row, new, first, filtered, left = ARGV[6], ARGV, 11, false, {}
local ids, known = keyed(KEYS[7], ARGV[9], ARGV[8])
if not ids then return 0 end
for i = 1, #ids do
  if known[ids[i]] ~= nil then filtered = true else known[ids[i]] = false end
end
if ARGV[10] ~= '' then
  local held = redis.call('MGET', unpack(KEYS, 10))
  for i = 1, #held / 2 do
    local at, alias, index = i * 9 - 8, held[i * 2 - 1], held[i * 2]
    if alias and aliased(alias, string.sub(ARGV[10], at + 1, at + 4)) ~= ''
      or index and numbers(index, string.sub(ARGV[10], at + 5, at + 8)) ~= '' then
      left[#left + 1] = string.sub(ARGV[10], at, at)
      known[ARGV[11 + 2 * string.byte(ARGV[10], at)]] = true
      filtered = true
    end
  end
end
local done = 1
if #left > 0 then done = table.concat(left) end
if filtered then
  -- Some were stored before, the same one comes twice, or its token may be registered.
  local rest = {}
  new = {}
  for at = 11, #ARGV, 2 do
    local id = ARGV[at]
    if not known[id] then
      if known[id] == false then known[id] = true end
      rest[#rest + 1] = id
      new[#new + 1] = id
      new[#new + 1] = ARGV[at + 1]
    end
  end
  row, first = table.concat(rest), 1
  if row == '' then return done end
end
local rows, messages = {}, #row / 16
for i = 1, messages do
  rows[2 * i - 1] = '0'
  rows[2 * i] = new[first + 2 * i - 2]
end
redis.call('ZADD', listing, unpack(rows))
-- An hour more than is asked for, so that not every message has to renew it.
if redis.call('TTL', listing) < life then
  redis.call('EXPIRE', listing, life + 3600)
  listed(hours, KEYS[8], ARGV[1], life + 3600)
end
local base = redis.call('INCRBY', KEYS[1], messages) - messages + 1
redis.call('XADD', KEYS[9], string.format('%.0f', base) .. mark(row), 's', row)
redis.call('HSET', KEYS[4], unpack(new, first))
if redis.call('SADD', KEYS[2], ARGV[5]) + redis.call('SREM', KEYS[3], ARGV[5]) > 0 then
  redis.call('PUBLISH', ARGV[3], 'w ' .. ARGV[4] .. ' ' .. ARGV[5])
end
remember(KEYS[7], ids, ARGV[7])
return done
