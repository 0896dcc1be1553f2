#!lua
-- Messages of an app that wait for their time, by that time. Those whose time has come leave.
-- KEYS waiting messages
-- ARGV now, id, its time, how many there may be; without that only a message that is there gets another time
-- → 1: it is there; 0: there are as many as may be, or it was not there
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])
if not redis.call('ZSCORE', KEYS[1], ARGV[2]) then
  local most = tonumber(ARGV[4])
  if not most or redis.call('ZCARD', KEYS[1]) >= most then return 0 end
end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[2])
local last = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', last[2] + 1000))
return 1
