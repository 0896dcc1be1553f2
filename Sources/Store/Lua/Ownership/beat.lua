#!lua flags=allow-oom
-- A heartbeat that lies ahead was written before Redis' clock went back: it counts as one of now.
-- KEYS workers, their reports
-- ARGV milliseconds that a heartbeat lasts, serial, report
-- → all serials that live, in their order
-- use clock
local gone = '(' .. string.format('%.0f', now() - tonumber(ARGV[1]))
for _, serial in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', gone)) do
  redis.call('ZREM', KEYS[1], serial)
  redis.call('HDEL', KEYS[2], serial)
end
for _, serial in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now(), '+inf')) do
  redis.call('ZADD', KEYS[1], now(), serial)
end
redis.call('ZADD', KEYS[1], now(), ARGV[2])
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
local serials = redis.call('ZRANGE', KEYS[1], 0, -1)
table.sort(serials)
return serials
