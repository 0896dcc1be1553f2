#!lua
-- A message of several partitions, stored at home before it spreads.
-- KEYS message, spread, spreading, segment, listing, hours, inline messages, keyed, ends of hours, staged body
-- ARGV raw id, hour, listing's life, milliseconds, number of fields, fields…, number of parts, (partition, part)…,
-- number of parts that were staged, the body with them, and as `acceptHere` takes them of its idempotency key: life, end, its id or ''
-- → 1; 0: it was stored before; -1: its key may have ended; -2: what was staged has ended
-- use clock, keyed, listed
local m, seg = KEYS[1], KEYS[4]
local ids, known = keyed(KEYS[8], ARGV[#ARGV], ARGV[#ARGV - 1])
if not ids then return -1 end
if known[ARGV[1]] then return 0 end
if redis.call('EXISTS', m) == 1 or redis.call('HEXISTS', seg, 'a' .. ARGV[1]) == 1
  or redis.call('HEXISTS', seg, 'm' .. ARGV[1]) == 1 or redis.call('HEXISTS', seg, 's' .. ARGV[1]) == 1
  or redis.call('HEXISTS', KEYS[7], ARGV[1]) == 1 then return 0 end
local staged = tonumber(ARGV[#ARGV - 3])
if staged > 0 then
  if redis.call('HLEN', KEYS[2]) < staged or redis.call('HSTRLEN', KEYS[10], 'b') == 0 then return -2 end
  redis.call('RENAME', KEYS[10], m)
  redis.call('PERSIST', m)
  redis.call('PERSIST', KEYS[2])
end
local fields = tonumber(ARGV[5])
local message = {}
for i = 6, 5 + fields do message[#message + 1] = ARGV[i] end
redis.call('HSET', m, unpack(message))
local at = 6 + fields
local parts = tonumber(ARGV[at])
for i = 1, parts do redis.call('HSET', KEYS[2], ARGV[at + 2 * i - 1], ARGV[at + 2 * i]) end
redis.call('ZADD', KEYS[3], ARGV[4], ARGV[1])
redis.call('ZADD', KEYS[5], 0, ARGV[1])
redis.call('EXPIRE', KEYS[5], ARGV[3], 'NX')
redis.call('EXPIRE', KEYS[5], ARGV[3], 'GT')
listed(KEYS[6], KEYS[9], ARGV[2], tonumber(ARGV[3]))
remember(KEYS[8], ids, ARGV[#ARGV - 2])
return 1
