#!lua flags=allow-oom
-- Hands the outcomes that became final since the last time to one process, which counts them. What it was handed stays
-- until it asks for the next: the same number again gives the same answer. What is handed out first is added to what
-- the apps did in this hour and minute, in the same step, so that neither has what the other has not. Nothing behind the
-- RENAME may fail: what is taken would be taken anew. Counts of an app that refuse (damaged) begin anew.
-- KEYS lease, tallies, taken, then for each app: counts of the hour, counts of the minute
-- ARGV owner, number, seconds that the counts of an hour live, and those of a minute, apps…
-- → names and counts
-- use owner
local function add(key, name, count)
  -- What is no number cannot be added to anything.
  if not string.match(count, '^[1-9]%d*$') or #count > 18 then return end
  if type(redis.pcall('HINCRBY', key, name, count)) == 'table' then
    redis.call('DEL', key)
    redis.call('HINCRBY', key, name, count)
  end
end
if redis.pcall('HGET', KEYS[3], '') ~= ARGV[2] then
  redis.call('DEL', KEYS[3])
  if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('RENAME', KEYS[2], KEYS[3]) end
  redis.call('HSET', KEYS[3], '', ARGV[2])
  redis.call('EXPIRE', KEYS[3], 3600)
  local places, used = {}, {}
  for i = 5, #ARGV do places[ARGV[i]] = 2 * i - 6 end
  local held = redis.call('HGETALL', KEYS[3])
  for i = 1, #held, 2 do
    local name, app = string.match(held[i], '^([^\1]*\1[^\1]*)\1(.+)$')
    local place = app and places[app]
    if place then
      add(KEYS[place], name, held[i + 1])
      add(KEYS[place + 1], name, held[i + 1])
      used[place] = true
    elseif app then
      -- An app whose first outcome came after the apps were read: handed out with the next number.
      redis.call('HSET', KEYS[2], held[i], held[i + 1])
      redis.call('HDEL', KEYS[3], held[i])
    end
  end
  for place in pairs(used) do
    redis.call('EXPIRE', KEYS[place], ARGV[3])
    redis.call('EXPIRE', KEYS[place + 1], ARGV[4])
  end
end
return redis.call('HGETALL', KEYS[3])
