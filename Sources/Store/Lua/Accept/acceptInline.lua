#!lua
-- Messages of one app and hour that go to one stream, all of them new but for those with an idempotency key; none of
-- them is stored, or all are. What may be damaged, a stream, is written before what tells that they are here.
-- KEYS seq, ready, waiting, inline messages, listing, hours, stream, keyed, ends of hours
-- ARGV hour, listing's life, channel, partition, name of the stream, raw ids in a row, and as `acceptHere` takes them
-- of idempotency keys: life, end, raw ids in a row; (raw id, single)…
-- → 1, or 0: a key may have ended, and nothing was done
-- use mark, clock, keyed, listed
local listing, hours, life = KEYS[5], KEYS[6], tonumber(ARGV[2])
local row, new, first, repeats = ARGV[6], ARGV, 10, false
local ids, known = keyed(KEYS[8], ARGV[9], ARGV[8])
if not ids then return 0 end
for i = 1, #ids do
  if known[ids[i]] ~= nil then repeats = true else known[ids[i]] = false end
end
if repeats then
  -- Some were stored before, or the same one comes twice.
  local rest = {}
  new = {}
  for at = 10, #ARGV, 2 do
    local id = ARGV[at]
    if not known[id] then
      if known[id] == false then known[id] = true end
      rest[#rest + 1] = id
      new[#new + 1] = id
      new[#new + 1] = ARGV[at + 1]
    end
  end
  row, first = table.concat(rest), 1
  if row == '' then return 1 end
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
  listed(hours, KEYS[9], ARGV[1], life + 3600)
end
local base = redis.call('INCRBY', KEYS[1], messages) - messages + 1
redis.call('XADD', KEYS[7], string.format('%.0f', base) .. mark(row), 's', row)
redis.call('HSET', KEYS[4], unpack(new, first))
if redis.call('SADD', KEYS[2], ARGV[5]) + redis.call('SREM', KEYS[3], ARGV[5]) > 0 then
  redis.call('PUBLISH', ARGV[3], 'w ' .. ARGV[4] .. ' ' .. ARGV[5])
end
remember(KEYS[8], ids, ARGV[7])
return 1
