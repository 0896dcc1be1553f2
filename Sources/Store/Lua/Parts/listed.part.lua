-- `listed(hours, ends, hour, life)`: the listing of an hour lives on for so many seconds. Hours whose listing has
-- ended leave both sets.
-- use clock
local function listed(hours, ends, hour, life)
  redis.call('ZADD', hours, hour, hour)
  redis.call('ZADD', ends, 'GT', string.format('%.0f', now() + life * 1000), hour)
  for _, key in ipairs({hours, ends}) do
    redis.call('EXPIRE', key, life, 'NX')
    redis.call('EXPIRE', key, life, 'GT')
  end
  local gone = redis.call('ZRANGEBYSCORE', ends, '-inf', '(' .. now(), 'LIMIT', 0, 100)
  if #gone > 0 then
    redis.call('ZREM', hours, unpack(gone))
    redis.call('ZREM', ends, unpack(gone))
  end
end
