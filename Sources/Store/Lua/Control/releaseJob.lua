#!lua
-- The time of some members of a part has come: their job joins its stream, with places of its own.
-- KEYS lease, work, starts, seq, ready, waiting, stream
-- ARGV owner, raw id, its entry among the starts, channel, partition, name of the stream, first, count
-- → sequence of its first member, or 0: nothing of it is left to do
-- use owner, mark
redis.call('ZREM', KEYS[3], ARGV[3])
local left = redis.call('HMGET', KEYS[2], 'x', 'j' .. ARGV[7])
if not left[1] or left[1] == '0' or not left[2] or left[2] == '0' then return 0 end
local count, name = tonumber(ARGV[8]), ARGV[6]
local base = redis.call('INCRBY', KEYS[4], count) - count + 1
redis.call('HSET', KEYS[2], 'b' .. ARGV[7], string.format('%.0f', base))
redis.call('XADD', KEYS[7], string.format('%.0f', base) .. mark(ARGV[2]), 'm', ARGV[2], 'a', ARGV[7], 'c',
  ARGV[8])
local wakes = redis.call('SADD', KEYS[5], name) + redis.call('SREM', KEYS[6], name)
if wakes > 0 then redis.call('PUBLISH', ARGV[4], 'w ' .. ARGV[5] .. ' ' .. name) end
return base
