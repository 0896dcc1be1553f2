#!lua flags=allow-oom
-- KEYS draft, sent, drafts
-- ARGV id, raw id of the message, seconds kept
redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[3])
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[3], ARGV[1])
return 1
