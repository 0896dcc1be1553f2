#!lua flags=allow-oom
-- Norms that an operator declared by applying prunes are what they were before.
-- KEYS norms
-- ARGV credentials…
-- → how many
local restored = 0
for _, credential in ipairs(ARGV) do
  local before = string.match(redis.call('HGET', KEYS[1], credential) or '', '^%S+ %S+ (%S+ %S+)$')
  if before then
    redis.call('HSET', KEYS[1], credential, before)
    restored = restored + 1
  end
end
return restored
