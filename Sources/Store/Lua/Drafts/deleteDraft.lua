#!lua flags=allow-oom
-- KEYS draft, sent, drafts
-- ARGV version or '', id
-- use heldDraft
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[3], ARGV[2])
return {'done', held[1]}
