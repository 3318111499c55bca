-- Runs when the data volume is made. On a volume that exists already: createdb -U "$POSTGRES_USER" litellm
CREATE DATABASE litellm;
