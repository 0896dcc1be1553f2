#!lua
-- Messages of one app and hour all of whose targets live here, in their home; one that is known is passed over.
-- KEYS seq, ready, waiting, inline messages, listing, hours, keyed, ends of hours, segment, segments, then per
-- message: message, work, deliveries, streams…, and tallies
-- ARGV hour, retention, listing's life, channel, partition, 1 if some may have been stored long ago, messages,
-- deliveries, seconds that an idempotency key lives, when the first of theirs ends, raw ids of those with a key in a
-- row, raw ids…, then per message: number of its arguments with this one, number of its streams, number of message
-- fields, fields…, part…
-- → 1, or 0: a key may have ended, and nothing was done
-- use archive, addShard, keyed, listed
local seg, listing, hours = KEYS[9], KEYS[5], KEYS[6]
local hour, life, messages = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[7])
local ids, known = keyed(KEYS[7], ARGV[11], ARGV[10])
if not ids then return 0 end
local rows = {}
for i = 1, messages do
  rows[2 * i - 1] = '0'
  rows[2 * i] = ARGV[11 + i]
end
redis.call('ZADD', listing, unpack(rows))
-- An hour more than is asked for, so that not every message has to renew it.
if redis.call('TTL', listing) < life then
  redis.call('EXPIRE', listing, life + 3600)
  listed(hours, KEYS[8], hour, life + 3600)
end
local base = redis.call('INCRBY', KEYS[1], ARGV[8]) - ARGV[8] + 1
local at, key = 12 + messages, 11
for i = 1, messages do
  local id, m, w, d = ARGV[11 + i], KEYS[key], KEYS[key + 1], KEYS[key + 2]
  local part = at + 3 + ARGV[at + 2]
  if not known[id] and redis.call('EXISTS', m) == 0 and (ARGV[6] == '0'
    or redis.call('HEXISTS', seg, 'a' .. id) == 0 and redis.call('HEXISTS', seg, 'm' .. id) == 0
      and redis.call('HEXISTS', seg, 's' .. id) == 0 and redis.call('HEXISTS', KEYS[4], id) == 0) then
    local ended = addShard(part, id, w, d, base, key + 3, KEYS[2], KEYS[3], ARGV[4], ARGV[5])
    redis.call('HSET', m, unpack(ARGV, at + 3, part - 1))
    if ended then
      close(id, redis.call('HGETALL', w), redis.call('HGETALL', d), m, seg, KEYS[10], nil, hour, ARGV[2], '1', nil)
      drop(w)
      drop(d)
    end
    known[id] = true
  end
  base = base + ARGV[part + 2]
  key = key + 3 + ARGV[at + 1]
  at = at + ARGV[at]
end
settle()
settleTallies()
remember(KEYS[7], ids, ARGV[9])
return 1
