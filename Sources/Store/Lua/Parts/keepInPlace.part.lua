-- Ends a part where it stands: its keys live on for the time of retention, or until the byte bound takes their hour.
-- `keys`: all that the part has, the work hash first. Answers how it ended, for `finished` and home.
-- use counterList
local inPlaceFrom = MOVED_AT_MOST
local function keepInPlace(id, keys, segs, kept, finished, hour, retention)
  local w = keys[1]
  local failed, counters = counterList(w)
  local life = tonumber(retention) + tonumber(redis.call('HGET', w, 'l'))
  local bytes = 0
  for _, key in ipairs(keys) do
    bytes = bytes + (redis.call('MEMORY', 'USAGE', key, 'SAMPLES', 5) or 0)
    redis.call('EXPIRE', key, life)
  end
  redis.call('SADD', kept, id)
  if redis.call('TTL', kept) < life then redis.call('EXPIRE', kept, life) end
  redis.call('ZINCRBY', segs, bytes, hour)
  local ending = failed .. packList(counters)
  redis.call('HSET', finished, id, ending)
  return ending
end
