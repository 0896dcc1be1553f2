#!lua
-- A step of one partition's part of a list, unless it is known there; the first one makes the part.
-- KEYS work, deliveries, slices, seq, ready, waiting, segment, segments, finished, kept, streams…, tallies
-- ARGV raw id, hour, retention, channel, partition, which step it is, the index of its first delivery, the number of
-- the part's deliveries, part…
-- → 0: it was known, 1, or how the part ended if nothing of it is left to do
-- use archive, addShard, keepInPlace
local id, w, seg = ARGV[1], KEYS[1], KEYS[7]
local step = {number = tonumber(ARGV[6]), first = tonumber(ARGV[7]), total = ARGV[8]}
local here = redis.call('HGET', w, 'ps')
if step.number > 0 then
  if here ~= ARGV[6] then return 0 end
elseif here or redis.call('EXISTS', w) == 1 or redis.call('HEXISTS', seg, 'w' .. id) == 1
  or redis.call('HEXISTS', KEYS[9], id) == 1 then
  return 0
end
local base = redis.call('INCRBY', KEYS[4], ARGV[11]) - ARGV[11] + 1
-- A part that comes as a whole has no steps to count.
if not addShard(9, id, w, KEYS[2], base, 11, KEYS[5], KEYS[6], ARGV[4], ARGV[5],
  step.total ~= ARGV[11] and step or nil) then
  settleTallies()
  return 1
end
settleTallies()
if tonumber(step.total) > inPlaceFrom then
  return keepInPlace(id, {w, KEYS[2], KEYS[3]}, KEYS[8], KEYS[10], KEYS[9], ARGV[2], ARGV[3])
end
local ending = keepPart(id, redis.call('HGETALL', w), redis.call('HGETALL', KEYS[2]), seg, KEYS[8], KEYS[9],
  ARGV[2], ARGV[3])
drop(w)
drop(KEYS[2])
settle()
return ending
