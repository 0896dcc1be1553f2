#!lua
-- One partition's part of a spreading message, unless it is known there.
-- KEYS work, deliveries, slices, seq, ready, waiting, segment, segments, finished, streams…, tallies
-- ARGV raw id, hour, retention, channel, partition, part…
-- → 0: it was known, 1, or how it ended if nothing of it is left to do
-- use archive, addShard
local id, w, seg = ARGV[1], KEYS[1], KEYS[7]
if redis.call('EXISTS', w) == 1 or redis.call('HEXISTS', seg, 'w' .. id) == 1
  or redis.call('HEXISTS', KEYS[9], id) == 1 then return 0 end
local base = redis.call('INCRBY', KEYS[4], ARGV[7]) - ARGV[7] + 1
if addShard(6, id, w, KEYS[2], base, 10, KEYS[5], KEYS[6], ARGV[4], ARGV[5]) then
  local ending = keepPart(id, redis.call('HGETALL', w), redis.call('HGETALL', KEYS[2]), seg, KEYS[8], KEYS[9],
    ARGV[2], ARGV[3])
  drop(w)
  drop(KEYS[2])
  settle()
  settleTallies()
  return ending
end
settleTallies()
return 1
