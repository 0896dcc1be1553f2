#!lua flags=allow-oom
-- Ends a part that cannot be read, unless it is known there: all its deliveries count as `counter`.
-- KEYS work, segment, segments, finished, odd, tallies
-- ARGV raw id, hour, seconds kept, counter, number of deliveries
-- → as `addShard`
-- use archive, tally
if redis.call('EXISTS', KEYS[1]) == 1 or redis.call('HEXISTS', KEYS[2], 'w' .. ARGV[1]) == 1
  or redis.call('HEXISTS', KEYS[4], ARGV[1]) == 1 then return 0 end
local counters = pack({ARGV[4], ARGV[5]})
keep(KEYS[2], KEYS[3], ARGV[2], ARGV[3], 'w' .. ARGV[1], counters)
redis.call('HSET', KEYS[4], ARGV[1], '1' .. counters)
redis.call('INCR', KEYS[5])
tally(ARGV[4], ARGV[5])
settleTallies()
settle()
return '1' .. counters
